"""E-mail: from a queued job to a message, and the record of what became of it."""

"""What is mailed: from a queued job to a message, and what became of it."""

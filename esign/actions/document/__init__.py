"""What senders do with documents and templates: create, change, send, list, read and delete."""

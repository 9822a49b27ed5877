"""What senders do: create, change, send, list, read and delete documents and templates."""

"""What recipients do: authenticate, read, draw, fill in, and complete or decline."""

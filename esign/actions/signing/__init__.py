"""What recipients do: show who they are, read, draw, fill in, finish or decline."""

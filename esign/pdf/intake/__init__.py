"""What happens to an uploaded file before it is taken."""

"""Documents and templates with all that belongs to them."""

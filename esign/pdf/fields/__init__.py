"""Detection of the fields that a file asks for itself."""

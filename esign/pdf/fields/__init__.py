"""Fields that a file asks for by itself."""

"""How a document that all have signed becomes its sealed file."""

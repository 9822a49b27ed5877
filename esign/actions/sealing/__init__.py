"""Seals a document that all recipients have signed."""

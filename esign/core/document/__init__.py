"""The rules of a document: its parts, what may stand in it, and what its people are told."""

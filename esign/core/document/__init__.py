"""The rules of a document: its parts, its states, the values of its fields, and the texts shown to its recipients."""

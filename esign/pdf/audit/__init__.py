"""The audit trail inside a sealed file: its head in the document information, and the whole trail as an attachment."""

"""Inspection and normalisation of an uploaded file before it is accepted."""

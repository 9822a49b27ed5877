"""Verification of the signatures of PDF files."""

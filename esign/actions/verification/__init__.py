"""Verifies sealed files and audit trails."""

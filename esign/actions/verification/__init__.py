"""Checks of sealed files and of audit trails."""

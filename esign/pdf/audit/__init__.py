"""The audit trail inside a sealed file."""

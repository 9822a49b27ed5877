"""Organisations, members, sessions, invitations, API keys and settings."""

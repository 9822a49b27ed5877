"""Organisations, members, users and their sessions, invitations, API keys and settings."""

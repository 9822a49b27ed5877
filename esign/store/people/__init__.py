"""Organisations, members, sessions, API keys and their usage."""

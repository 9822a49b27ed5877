"""Organisations, members, users, sessions, API keys, and counts of usage."""

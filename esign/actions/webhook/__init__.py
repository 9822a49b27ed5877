"""Subscriptions to events, and their delivery."""

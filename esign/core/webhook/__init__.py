"""The rules of webhooks: what an event carries, its signature, and when it is delivered again."""

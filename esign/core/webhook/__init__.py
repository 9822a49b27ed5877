"""The rules of webhooks: the body of an event, its signature, and when it is delivered again."""

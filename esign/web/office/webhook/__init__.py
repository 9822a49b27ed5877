"""The pages of webhooks and their deliveries."""

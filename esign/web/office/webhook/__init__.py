"""The pages that list and change webhooks, and show their deliveries."""

"""Webhooks: subscriptions to events, and the delivery of events to them."""

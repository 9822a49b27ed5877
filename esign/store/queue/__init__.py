"""Work and events that wait or have left: the outbox, mails, webhooks, idempotent answers."""

"""Floor 3, the clock's door: workers take jobs and deliveries, ticks pick up what has become due.

- Every due date is a row with a partial index; the scheduler is only a clock and holds no truth.
- A job is claimed under a lease, so a crash makes it due again; every job may therefore run twice.
- Deliveries to webhooks have a worker of their own (`delivering`): there may be hundreds a second, so it notes and
  claims many in one transaction, and none of the slow ones may hold up the others.
- `worker.drain` and the ticks are plain functions: tests advance the clock and call them.
"""

"""Floor 3, the clock's door: workers take jobs from the outbox, ticks pick up what has become due.

- Every due date is a row with a partial index; the scheduler is only a clock and holds no truth.
- A job is claimed under a lease, so a crash makes it due again; every job may therefore run twice.
- `worker.drain` and the ticks are plain functions: tests advance the clock and call them.
"""

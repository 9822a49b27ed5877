"""Work that the clock starts: workers take jobs and deliveries, ticks find what has become due.

- Every due date is a row with a partial index. The scheduler is only a clock and keeps no state of its own.
- A worker claims a job under a lease, so that a crash makes the job due again. Every job may therefore run
  twice.
- Webhook deliveries have a worker of their own (`deliver_webhooks`). There may be hundreds a second, so it
  records and claims many in one transaction, and a slow receiver must not hold up the others.
- `worker.drain_jobs` and the ticks are plain functions: tests advance the clock and call them.
"""

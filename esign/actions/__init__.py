"""Floor 2: one function per thing a person or a program can do: read, decide (core), save.

- The web, the clock and the command line are three doors to the same functions.
- `keep` lets a door write its own record (the stored answer of an Idempotency-Key) in the same transaction as the
  effect; it is called with the transaction and the result.
- Nothing waits for the network or for PDF work inside a transaction.
"""

"""The actions: one function for each thing that a person or a program can do. An action reads, decides (core)
and saves.

- The web, the scheduled jobs and the command line call the same functions.
- `keep` lets the caller write a record of its own (the stored answer of an Idempotency-Key) in the transaction
  of the effect. It is called with the transaction and the result.
- No transaction is open while an action waits for the network or for PDF work.
"""

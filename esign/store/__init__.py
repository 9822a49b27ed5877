"""The database: the only place with SQL (floor 1).

- Raw SQL with `:name` parameters only. Most statements stay in the subset that SQLite and PostgreSQL share. Some do
  not: the full-text index (FTS5), INDEXED BY, triggers and pragmas. Tokens such as `{strict}` in the migrations stand
  for words that differ (`engine.migrate.SQLITE`).
- Times are INTEGER milliseconds UTC, ids TEXT, JSON opaque TEXT.
- One writer task owns the only writing connection and commits up to 16 queued functions at once
  (`engine/database.py`); readers never wait for it.
- A recipient's fields are one JSON column of the recipient. They are only read and written with it, so a recipient
  cannot touch fields of another, and a document is one joined read.
- The outbox is the only queue, except for deliveries to webhooks. These have rows of their own, because each is kept
  with the log of its attempts, and because they are claimed webhook by webhook.
- Only `outcomes` adds and saves documents; only `erasure` deletes them.
"""

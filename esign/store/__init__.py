"""The database: the only place with SQL (floor 1).

- Raw SQL with `:name` parameters only, in the subset that SQLite and PostgreSQL share. What only SQLite has (FTS5,
  indexes by name, row ids, pragmas, its errors) is in `engine`, behind functions that another engine can answer:
  find a page of documents, index a document's words, walk a table. `tests/store/test_shared_sql.py` reads every
  statement outside of `engine`.
- A migration is shared as well; its part for SQLite alone (triggers, the full-text index) is a file `.sqlite.sql`
  beside it. Tokens such as `{strict}` stand for words that differ (`engine.migrate.SQLITE`).
- Times are INTEGER milliseconds UTC, ids TEXT, JSON opaque TEXT.
- One writer task owns the only writing connection and commits up to 16 queued functions at once
  (`engine/database.py`); readers never wait for it.
- A recipient's fields are one JSON column of the recipient. They are only read and written with it, so a recipient
  cannot touch fields of another, and a document is one joined read.
- The outbox is the only queue, except for deliveries to webhooks. These have rows of their own, because each is kept
  with the log of its attempts, and because they are claimed webhook by webhook.
- Only `outcomes` adds and saves documents; only `erasure` deletes them.
"""

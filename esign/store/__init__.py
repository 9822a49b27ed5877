"""Floor 1: the only place with SQL.

- Raw SQL in the subset that SQLite and PostgreSQL share, `:name` parameters only; what differs stands in
  `dialect` tokens of the migrations. Times are INTEGER milliseconds UTC, ids TEXT, JSON opaque TEXT.
- One writer task owns the only writing connection and commits up to 16 queued functions at once
  (`database.py`); readers never wait for it.
- A recipient's fields are one JSON column of the recipient: they are only ever read and written with it, so a
  recipient can touch no field of another, and a document is one joined read.
- The outbox is the only queue, but for deliveries to webhooks: they are rows of their own, because each is kept with
  the log of its attempts, and because they are claimed webhook by webhook.
- `outcomes.save` is the only writer of a document's life.
"""

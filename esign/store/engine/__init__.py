"""SQLite itself: connections, transactions, migrations, locks, damage, and the SQL that only it understands.

Another engine would be another package with the same functions:

- `connections.open_database`, and `database` with `Database`, `Transaction` and `Reader`. `readers`, `locks`,
  `failures` and `folder` serve them alone.
- `document_pages.find_page`: a page of documents by filters and order, along `document_list_statements`.
- `search_index`: put a document's words into the full-text index (`search_words`), forget them, compact the index.
- `dialect`: pieces of statements that are worded differently, and a walk through a table.
- `migrate`, `inspection`: the schema and its versions; damaged pages.

`paging`, `sql` and `unreadable_rows` are not about SQLite.
"""

"""SQLite itself: connections, transactions, migrations, locks, damage, and the SQL that only it understands."""

-- The schedule of backups: when the next is due, which was the last good one (made_at is its moment, name and size those
-- of its file), and how many tries have failed since, why the last did, and when owners were told. `label` tells this
-- installation from others with the same target, `place` is the target of the last try, and `elsewhere` says that it was
-- not on the disk of the data.
CREATE TABLE backup_schedule (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    label TEXT NOT NULL,
    place TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    tried_at INTEGER,
    made_at INTEGER,
    name TEXT,
    size INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    problem TEXT,
    mailed_at INTEGER,
    elsewhere INTEGER NOT NULL DEFAULT 0
) {strict};

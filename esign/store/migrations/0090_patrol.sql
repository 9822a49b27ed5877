-- How far the patrol has come that reads every content again within a month: `place` is the hash that it read last, in
-- the pass that began at `begun_at`. `finished_at` is the end of the last whole pass, `contents` how many it has read
-- since the beginning of this one, and `mailed_at` when owners were last told of damage.
CREATE TABLE patrol (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    place TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    contents INTEGER NOT NULL DEFAULT 0,
    finished_at INTEGER,
    mailed_at INTEGER
) {strict};

-- Damage that was found, by the kind and the name of what is damaged, until it is found whole again; `told_at` is when
-- owners were told.
CREATE TABLE damage (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    reason TEXT NOT NULL,
    found_at INTEGER NOT NULL,
    told_at INTEGER,
    PRIMARY KEY (kind, subject)
) {strict};
CREATE INDEX damage_untold ON damage (found_at) WHERE told_at IS NULL;

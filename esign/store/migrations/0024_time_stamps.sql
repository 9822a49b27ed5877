-- How each time-stamp authority of the settings answered last: `error` is NULL where it gave a time stamp, `name` is that
-- of its certificate. What was asked of a seal and what was reached stand in document.seal; of seals made before,
-- both are B-B.
CREATE TABLE time_authority (
    url TEXT PRIMARY KEY,
    asked_at INTEGER NOT NULL,
    error TEXT,
    name TEXT
) {strict};

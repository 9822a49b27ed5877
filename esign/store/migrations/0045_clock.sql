-- The last time that was certain, for the next start (esign/system/clock.py): `at` by the wall clock, `elapsed` ms since the
-- start of the machine run named `boot_id`. `doubt_since` and `doubt_ahead` are set while the wall clock is not believed;
-- `confirmed` is the wall time at which an operator said on the command line that it is right.
CREATE TABLE clock_mark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at INTEGER NOT NULL,
    elapsed INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    doubt_since INTEGER,
    doubt_ahead INTEGER,
    confirmed INTEGER
) {strict};

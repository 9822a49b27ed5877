-- The restores of this database from backups: when, of which time the backup is, and when an administrator said that what
-- it held back may go on. Held jobs are rows of outbox in the state 'held'. A held delivery is one that failed, for the
-- log of its webhook, with the time at which it was held.
CREATE TABLE restoration (
    id {serial},
    restored_at INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    resumed_at INTEGER
) {strict};
ALTER TABLE delivery ADD COLUMN held_at INTEGER;
CREATE INDEX outbox_held ON outbox (kind, id) WHERE state = 'held';
CREATE INDEX delivery_held ON delivery (number) WHERE held_at IS NOT NULL;

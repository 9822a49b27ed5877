-- Mails are taken in turns between organisations, each by urgency: one step along the index for each that has any
-- waiting.
UPDATE outbox SET organisation_id = 'none' WHERE kind = 'mail' AND state = 'pending' AND organisation_id IS NULL;
DROP INDEX outbox_urgent;
CREATE INDEX outbox_lanes ON outbox (kind, organisation_id, urgency, due_at, id)
    WHERE kind = 'mail' AND state = 'pending';

-- Whose mails the mail server puts off one after the other: addresses of one organisation say nothing about those of
-- another. `failures` counts in a row; from `stopped_at` on one mail of it is tried at each `probe_at`.
CREATE TABLE deferral (
    organisation_id TEXT PRIMARY KEY,
    failures INTEGER NOT NULL,
    stopped_at INTEGER,
    reason TEXT,
    probe_at INTEGER
) {strict};
DELETE FROM relay WHERE stopped_at IS NULL OR cause = 'deferred';

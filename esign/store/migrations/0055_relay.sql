-- How soon a mail leaves among those that wait: 0 codes and resets, 1 invitations, 2 copies and ends, 3 all others.
ALTER TABLE outbox ADD COLUMN urgency INTEGER NOT NULL DEFAULT 3;
UPDATE outbox SET urgency = CASE
    WHEN key LIKE 'code:%' OR key LIKE 'reset:%' THEN 0
    WHEN key LIKE 'remind:%' OR key LIKE 'notice:%' THEN 3
    WHEN key LIKE 'completed:%' OR key LIKE 'declined:%' OR key LIKE 'cancelled:%' OR key LIKE 'expired:%' THEN 2
    ELSE 1 END
    WHERE kind = 'mail' AND state = 'pending';
CREATE INDEX outbox_urgent ON outbox (kind, urgency, due_at, id) WHERE state = 'pending';

-- Whether the mail server takes mails: no row while nothing is wrong. `failures` counts mails in a row that it put
-- off; from `stopped_at` on only one mail is tried at each `probe_at`, until one is taken.
CREATE TABLE relay (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    failures INTEGER NOT NULL,
    stopped_at INTEGER,
    cause TEXT,
    reason TEXT,
    probe_at INTEGER
) {strict};

-- What an endpoint failed at since its last success, and the secret that still signs after a rotation.
ALTER TABLE webhook ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhook ADD COLUMN exhausted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE webhook ADD COLUMN warned_at INTEGER;
ALTER TABLE webhook ADD COLUMN previous_secret {bytes};
ALTER TABLE webhook ADD COLUMN previous_until INTEGER;
CREATE INDEX webhook_failing ON webhook (failing_since) WHERE failing_since IS NOT NULL AND enabled = 1;

CREATE INDEX event_by_type ON event (organisation_id, mode, type, created_at, id);
CREATE INDEX event_by_document ON event (organisation_id, mode, document_id, created_at, id);

-- One event for one webhook. A deleted webhook leaves its log to the age of the events.
CREATE TABLE delivery (
    number {serial},
    id TEXT NOT NULL UNIQUE,
    webhook_id TEXT NOT NULL,
    event_id TEXT NOT NULL REFERENCES event (id) ON DELETE CASCADE,
    event_type TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    attempt_count INTEGER NOT NULL,
    last_status_code INTEGER,
    last_error TEXT,
    finished_at INTEGER,
    boot TEXT,
    UNIQUE (event_id, webhook_id)
) {strict};
CREATE INDEX delivery_due ON delivery (webhook_id, due_at, number) WHERE status = 'pending';
CREATE INDEX delivery_leased ON delivery (boot) WHERE status = 'pending' AND boot IS NOT NULL;
CREATE INDEX delivery_newest ON delivery (webhook_id, status, created_at, id);
CREATE INDEX delivery_by_type ON delivery (webhook_id, event_type, status, created_at, id);

CREATE TABLE attempt (
    delivery INTEGER NOT NULL REFERENCES delivery (number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    status_code INTEGER,
    error TEXT,
    response_body {bytes} NOT NULL,
    PRIMARY KEY (delivery, number)
) {strict};

-- Deliveries were what must not delay one another in the outbox.
DROP INDEX outbox_of_lane;
ALTER TABLE outbox DROP COLUMN lane;

-- Jobs that end their PDF worker, or the whole program, are set aside after three times (state 'aside'): `worker_deaths`
-- counts the first, `cut_offs` the second, in a row. One that was cut off twice waits until `not_before` for its third try.
ALTER TABLE outbox ADD COLUMN worker_deaths INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN cut_offs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;
CREATE INDEX outbox_aside ON outbox (kind, id) WHERE state = 'aside';
CREATE INDEX outbox_suspects ON outbox (cut_offs, id) WHERE state = 'pending' AND cut_offs > 0;

-- The same for deliveries, of which one that was set aside has the status 'failed'.
ALTER TABLE delivery ADD COLUMN cut_offs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE delivery ADD COLUMN aside_at INTEGER;
CREATE INDEX delivery_suspects ON delivery (cut_offs, number) WHERE status = 'pending' AND cut_offs > 0;
CREATE INDEX delivery_aside ON delivery (aside_at, number) WHERE aside_at IS NOT NULL;

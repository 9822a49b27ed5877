-- The member who made a key, whose present role bounds what the key may do; NULL: the command line.
ALTER TABLE api_key ADD COLUMN maker_id TEXT;
CREATE INDEX api_key_maker ON api_key (maker_id, created_at, id) WHERE maker_id IS NOT NULL;

-- When a code of the second factor last confirmed a sensitive act; the code of a sign-in does not count.
ALTER TABLE session ADD COLUMN factor_at INTEGER;

-- Which document a stored answer speaks about: it is reduced when the document is deleted.
ALTER TABLE idempotency ADD COLUMN about TEXT;
CREATE INDEX idempotency_about ON idempotency (about) WHERE about IS NOT NULL;

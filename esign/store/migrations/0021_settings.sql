-- Whose mail a job is (NULL: no mail), and what the mail server said when it took it. `words` is the ciphertext of a
-- copy for those who look after the organisation: to whom, subject and text, without what opens anything.
ALTER TABLE outbox ADD COLUMN organisation_id TEXT;
ALTER TABLE outbox ADD COLUMN mode TEXT;
ALTER TABLE outbox ADD COLUMN words {bytes};
ALTER TABLE outbox ADD COLUMN reply TEXT;
UPDATE outbox SET organisation_id = (SELECT organisation_id FROM document WHERE document.id = outbox.document_id),
    mode = (SELECT mode FROM document WHERE document.id = outbox.document_id)
    WHERE kind = 'mail' AND state = 'pending' AND document_id IS NOT NULL;
CREATE INDEX outbox_mails ON outbox (organisation_id, mode, created_at, id) WHERE kind = 'mail';
CREATE INDEX outbox_undelivered ON outbox (organisation_id, mode, created_at, id)
    WHERE kind = 'mail' AND state <> 'done';

-- When somebody was last at a browser; their sessions go when they end.
ALTER TABLE app_user ADD COLUMN seen_at INTEGER;

-- What goes by itself when its time is over, by when it ended.
CREATE INDEX document_completed ON document (organisation_id, mode, completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX document_closed ON document (organisation_id, mode, closed_at) WHERE closed_at IS NOT NULL;

-- Mails of test mode are kept beside being sent; of all others these are NULL. `words` is ciphertext: text and links.
ALTER TABLE kept_mail ADD COLUMN organisation_id TEXT;
ALTER TABLE kept_mail ADD COLUMN document_id TEXT;
ALTER TABLE kept_mail ADD COLUMN recipient_id TEXT;
ALTER TABLE kept_mail ADD COLUMN words {bytes};
CREATE INDEX kept_mail_of_tests ON kept_mail (organisation_id, created_at, id) WHERE organisation_id IS NOT NULL;
CREATE INDEX kept_mail_of_document ON kept_mail (organisation_id, document_id, created_at, id)
    WHERE document_id IS NOT NULL;
CREATE INDEX kept_mail_of_recipient ON kept_mail (organisation_id, recipient_id, created_at, id)
    WHERE recipient_id IS NOT NULL;
CREATE INDEX kept_mail_of_nothing ON kept_mail (created_at) WHERE organisation_id IS NOT NULL AND document_id IS NULL;

-- Who made a key (NULL: the command line), and what its administrators were told of its end.
ALTER TABLE api_key ADD COLUMN created_by TEXT;
ALTER TABLE api_key ADD COLUMN expiry_notice INTEGER;
ALTER TABLE api_key ADD COLUMN unused_notices INTEGER NOT NULL DEFAULT 0;
ALTER TABLE api_key ADD COLUMN unused_noticed_at INTEGER;
CREATE INDEX api_key_expiring ON api_key (expires_at) WHERE revoked_at IS NULL AND expires_at IS NOT NULL;
CREATE INDEX api_key_unused ON api_key (COALESCE(last_used_at, created_at)) WHERE revoked_at IS NULL;

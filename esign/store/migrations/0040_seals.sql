-- Seals are taken in turns between organisations: one step along the index for each that has any waiting.
UPDATE outbox SET organisation_id = COALESCE(
    (SELECT organisation_id FROM document WHERE document.id = outbox.document_id), 'none')
WHERE kind = 'seal' AND state = 'pending';
CREATE INDEX outbox_seals ON outbox (kind, organisation_id, due_at, id) WHERE kind = 'seal' AND state = 'pending';

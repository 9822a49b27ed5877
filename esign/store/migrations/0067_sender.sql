-- Who made a document: the id of the actor in `created_by`, for the filter of lists; written with the document.
ALTER TABLE document ADD COLUMN sender_id TEXT;
CREATE INDEX document_newest_of_sender
    ON document (organisation_id, mode, sender_id, created_at, id, updated_at, completed_at, status);

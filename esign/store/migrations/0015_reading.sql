-- What was made of a document for its readers when they first asked: sharper pictures, values in place, text.
CREATE TABLE page_view (
    document_id TEXT NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    content {bytes} NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (document_id, name)
) {strict};
CREATE INDEX page_view_age ON page_view (made_at);

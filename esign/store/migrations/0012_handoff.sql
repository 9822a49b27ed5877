-- A signature on its way from a phone to the page it is drawn for; one at a time for each recipient.
CREATE TABLE handoff (
    recipient_id TEXT PRIMARY KEY REFERENCES recipient (id) ON DELETE CASCADE,
    document_id TEXT NOT NULL,
    id TEXT NOT NULL UNIQUE,
    hash {bytes} NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    opened_at INTEGER,
    picture {bytes}
) {strict};
CREATE INDEX handoff_by_end ON handoff (expires_at);

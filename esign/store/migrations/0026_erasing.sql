-- Requests to erase what is kept of one person. `email` is a ciphertext, gone once it is done; the walk through their
-- documents, oldest first, live mode before test mode, has come to the place (mode, at, document_id).
CREATE TABLE erasing (
    id TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    email {bytes},
    shared INTEGER NOT NULL,
    actor TEXT NOT NULL,
    origin TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    mode TEXT NOT NULL,
    at INTEGER NOT NULL,
    document_id TEXT NOT NULL,
    erased INTEGER NOT NULL DEFAULT 0,
    open INTEGER NOT NULL DEFAULT 0,
    locked INTEGER NOT NULL DEFAULT 0,
    others INTEGER NOT NULL DEFAULT 0,
    finished_at INTEGER
) {strict};
CREATE INDEX erasing_newest ON erasing (organisation_id, created_at, id);
CREATE INDEX erasing_running ON erasing (created_at, id) WHERE finished_at IS NULL;

CREATE TABLE template (
    id TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    mode TEXT NOT NULL,
    revision INTEGER NOT NULL,
    title TEXT NOT NULL,
    folded TEXT NOT NULL,
    file TEXT NOT NULL,
    subject TEXT,
    message TEXT,
    expires_in_days INTEGER NOT NULL,
    reminders TEXT NOT NULL,
    roles TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) {strict};
CREATE INDEX template_newest ON template (organisation_id, mode, created_at, id);

-- Which file content a template refers to, beside document_blob.
CREATE TABLE template_blob (
    template_id TEXT NOT NULL REFERENCES template (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL REFERENCES blob (sha256),
    PRIMARY KEY (template_id, sha256)
) {strict};
CREATE INDEX template_of_blob ON template_blob (sha256);

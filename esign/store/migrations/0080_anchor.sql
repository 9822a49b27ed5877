-- Anchors (esign/core/document/anchor.py): the canonical statement, its leaves as JSON, the detached seal, and the time stamp
-- unless no authority was configured. Rows are never changed.
CREATE TABLE anchor (
    number INTEGER PRIMARY KEY,
    made_at INTEGER NOT NULL,
    statement {bytes} NOT NULL,
    leaves {bytes} NOT NULL,
    cms {bytes} NOT NULL,
    token {bytes}
) {strict};

-- Up to which anchor each target of the settings has all, and why the next one could not be delivered.
CREATE TABLE anchor_target (
    target TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    error TEXT
) {strict};

-- The entry up to which the newest anchor with this trail vouches for it. Few trails grow between two anchors.
ALTER TABLE audit_head ADD COLUMN anchored INTEGER NOT NULL DEFAULT 0;
CREATE INDEX audit_head_grown ON audit_head (document_id) WHERE seq <> anchored;

-- The last entry of each audit trail, under a mac of the application key: a trail that lost its end, or was written
-- anew by somebody who has only the database, no longer fits.
CREATE TABLE audit_head (
    document_id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    mac {bytes} NOT NULL
) {strict};

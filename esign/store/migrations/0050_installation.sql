-- What is known of the installation as a whole, by name: see store/installation.
CREATE TABLE installation (
    name TEXT PRIMARY KEY,
    value {bytes} NOT NULL
) {strict};

-- 1 where the trail was written by a version that did not vouch for its end: that was made up for later.
ALTER TABLE audit_head ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
INSERT INTO installation (name, value)
SELECT 'heads', CAST('' AS {bytes}) WHERE EXISTS (
    SELECT 1 FROM audit a WHERE NOT EXISTS (SELECT 1 FROM audit_head h WHERE h.document_id = a.document_id));

-- The very first version made this index over the id alone.
DROP INDEX document_sealing;
CREATE INDEX document_sealing ON document (status, id) WHERE status = 'sealing';

-- Content that nothing refers to is found without looking at all the rest; triggers keep `loose` in step.
ALTER TABLE blob ADD COLUMN loose INTEGER NOT NULL DEFAULT 1;
UPDATE blob SET loose = 0
WHERE sha256 IN (SELECT sha256 FROM document_blob) OR sha256 IN (SELECT sha256 FROM template_blob);
CREATE INDEX blob_loose ON blob (created_at) WHERE loose = 1;

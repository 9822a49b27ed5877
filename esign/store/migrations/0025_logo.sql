-- The logo of an organisation: its hash and size stand with the organisation, its content here.
ALTER TABLE organisation ADD COLUMN logo TEXT;

CREATE TABLE logo (
    organisation_id TEXT PRIMARY KEY REFERENCES organisation (id),
    sha256 TEXT NOT NULL,
    png {bytes} NOT NULL
) {strict};
CREATE INDEX logo_by_hash ON logo (sha256);

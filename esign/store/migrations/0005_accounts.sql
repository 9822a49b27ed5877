DROP INDEX api_key_of_organisation;
CREATE INDEX api_key_newest ON api_key (organisation_id, mode, created_at, id);
CREATE INDEX api_key_active ON api_key (organisation_id, created_at, id);

-- What an organisation has set for itself; NULL: as the installation has it, or none.
ALTER TABLE organisation ADD COLUMN expires_in_days INTEGER;
ALTER TABLE organisation ADD COLUMN reminders TEXT;
ALTER TABLE organisation ADD COLUMN retain_completed_days INTEGER;
ALTER TABLE organisation ADD COLUMN delete_closed_after_days INTEGER;
ALTER TABLE organisation ADD COLUMN max_key_lifetime_days INTEGER;

-- What an organisation did in a day (UTC) in one mode; `storage_bytes` are those of the files added.
CREATE TABLE usage (
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    mode TEXT NOT NULL,
    day INTEGER NOT NULL,
    documents_created INTEGER NOT NULL DEFAULT 0,
    documents_sent INTEGER NOT NULL DEFAULT 0,
    documents_completed INTEGER NOT NULL DEFAULT 0,
    emails INTEGER NOT NULL DEFAULT 0,
    api_requests INTEGER NOT NULL DEFAULT 0,
    storage_bytes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id, day, mode)
) {strict};
INSERT INTO usage (organisation_id, mode, day, emails) SELECT organisation_id, 'live', day, sent FROM mail_count;
DROP TABLE mail_count;

-- `address` is the email in small letters: one person is a member once.
CREATE TABLE member (
    id TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    email TEXT NOT NULL,
    address TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (organisation_id, address)
) {strict};
CREATE INDEX member_newest ON member (organisation_id, created_at, id);
CREATE INDEX member_owner ON member (organisation_id) WHERE role = 'owner';

-- The address book of an organisation: people to whom its members sent documents, and those that they entered.
-- `address` is the email address and `sorted` the name, both folded for comparison.
CREATE TABLE contact (
    id TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    mode TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    company TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    address TEXT NOT NULL,
    sorted TEXT NOT NULL,
    UNIQUE (organisation_id, mode, address)
) {strict};
CREATE INDEX contact_by_name ON contact (organisation_id, mode, sorted, id);
CREATE INDEX contact_by_use ON contact (used_at);
-- The words of name, company and address, each found by its beginning.
CREATE TABLE contact_word (
    organisation_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    word TEXT NOT NULL,
    contact_id TEXT NOT NULL REFERENCES contact (id) ON DELETE CASCADE,
    PRIMARY KEY (organisation_id, mode, word, contact_id)
) {strict};
CREATE INDEX contact_word_by_contact ON contact_word (contact_id);

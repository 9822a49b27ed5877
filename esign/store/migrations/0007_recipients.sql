-- A salted mac of the code that sender and recipient agreed upon; never the code itself.
ALTER TABLE recipient ADD COLUMN access_code TEXT;

-- The codes of a recipient: the mac of the one mailed last (NULL: used, or none), and the wrong tries.
CREATE TABLE challenge (
    recipient_id TEXT PRIMARY KEY REFERENCES recipient (id) ON DELETE CASCADE,
    code {bytes},
    sent_at INTEGER,
    sent_on INTEGER,
    sent INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    tries_since INTEGER,
    tries_in_all INTEGER NOT NULL
) {strict};

-- Which browser has shown a code of which recipient; `session` is the SHA-256 of its cookie.
CREATE TABLE proof (
    session {bytes} NOT NULL,
    recipient_id TEXT NOT NULL REFERENCES recipient (id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (session, recipient_id)
) {strict};
CREATE INDEX proof_of_recipient ON proof (recipient_id);
CREATE INDEX proof_age ON proof (expires_at);

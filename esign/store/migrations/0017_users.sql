-- The people who sign in. `address` is the email in small letters; `totp` is encrypted, `step` the last one used.
CREATE TABLE app_user (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    address TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    password TEXT,
    password_at INTEGER,
    totp {bytes},
    step INTEGER NOT NULL DEFAULT 0,
    disabled_at INTEGER
) {strict};
CREATE INDEX app_user_newest ON app_user (created_at, id);

-- What signs in when the second factor is lost: each once. `code` is a mac, never the code itself.
CREATE TABLE recovery_code (
    user_id TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    code {bytes} NOT NULL,
    PRIMARY KEY (user_id, code)
) {strict};

-- `token` is the SHA-256 of the browser's cookie; `id` only names the session in lists.
CREATE TABLE session (
    token {bytes} PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    stage TEXT NOT NULL,
    mode TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    proved_at INTEGER NOT NULL,
    ip TEXT,
    user_agent TEXT
) {strict};
CREATE INDEX session_of_user ON session (user_id, created_at);
CREATE INDEX session_age ON session (seen_at);

-- Links of invitations, forgotten passwords and the first start; `token` is the SHA-256 of theirs.
CREATE TABLE ticket (
    token {bytes} PRIMARY KEY,
    errand TEXT NOT NULL,
    subject TEXT NOT NULL,
    expires_at INTEGER NOT NULL
) {strict};
CREATE INDEX ticket_subject ON ticket (subject, errand);
CREATE INDEX ticket_age ON ticket (expires_at);

-- The person behind a member, once they have joined.
ALTER TABLE member ADD COLUMN user_id TEXT REFERENCES app_user (id);
CREATE INDEX member_user ON member (user_id, created_at, id) WHERE user_id IS NOT NULL;

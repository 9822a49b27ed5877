-- The administrative log of an organisation is a trail like a document's, under the organisation's id. These find its
-- newest entries, of a type or of an actor; entries of documents are in none of them.
CREATE INDEX audit_log_newest ON audit (document_id, at, seq)
    WHERE document_id >= 'org_' AND document_id < 'org`';
CREATE INDEX audit_log_type ON audit (document_id, type, at, seq)
    WHERE document_id >= 'org_' AND document_id < 'org`';
CREATE INDEX audit_log_actor ON audit (document_id, actor_id, at, seq)
    WHERE document_id >= 'org_' AND document_id < 'org`';
CREATE INDEX audit_log_type_of_actor ON audit (document_id, actor_id, type, at, seq)
    WHERE document_id >= 'org_' AND document_id < 'org`';

-- Failed sign-ins since `since`, by organisation and what was tried: a row for each member and step, and one for all
-- accounts that nobody has. Few of them become entries of the log.
CREATE TABLE failed_sign_in (
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    subject TEXT NOT NULL,
    since INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, subject)
) {strict};
CREATE INDEX failed_sign_in_age ON failed_sign_in (since);

-- Browsers in which a person has signed in; `token` is the SHA-256 of a cookie that opens nothing.
CREATE TABLE known_browser (
    token {bytes} NOT NULL,
    user_id TEXT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, token)
) {strict};
CREATE INDEX known_browser_token ON known_browser (token);
CREATE INDEX known_browser_age ON known_browser (seen_at);

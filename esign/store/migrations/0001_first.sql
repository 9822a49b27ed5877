CREATE TABLE organisation (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    locale TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    plan TEXT,
    colour TEXT NOT NULL,
    reply_to TEXT,
    created_at INTEGER NOT NULL
) {strict};

CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    mode TEXT NOT NULL,
    name TEXT NOT NULL,
    hash {bytes} NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used_at INTEGER,
    last_used_ip TEXT,
    revoked_at INTEGER
) {strict};
CREATE INDEX api_key_of_organisation ON api_key (organisation_id, created_at);

CREATE TABLE blob (
    sha256 TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) {strict};

CREATE TABLE blob_chunk (
    sha256 TEXT NOT NULL REFERENCES blob (sha256) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    content {bytes} NOT NULL,
    PRIMARY KEY (sha256, number)
) {strict};

CREATE TABLE document (
    id TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    mode TEXT NOT NULL,
    status TEXT NOT NULL,
    revision INTEGER NOT NULL,
    title TEXT NOT NULL,
    file TEXT NOT NULL,
    subject TEXT,
    message TEXT,
    locale TEXT,
    expires_in_days INTEGER NOT NULL,
    expires_at INTEGER,
    reminders TEXT NOT NULL,
    redirect_url TEXT,
    external_id TEXT,
    metadata TEXT NOT NULL,
    template_id TEXT,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    sent_at INTEGER,
    completed_at INTEGER,
    closed_at INTEGER,
    close_reason TEXT,
    seal TEXT,
    seal_error TEXT,
    seal_attempts INTEGER NOT NULL DEFAULT 0
) {strict};
CREATE INDEX document_newest ON document (organisation_id, mode, created_at, id);
CREATE INDEX document_by_status ON document (organisation_id, mode, status, created_at, id);
CREATE INDEX document_expiring ON document (expires_at) WHERE status = 'sent';
CREATE INDEX document_sealing ON document (status, id) WHERE status = 'sealing';

-- Which file content a document refers to: what no row names any more is pruned.
CREATE TABLE document_blob (
    document_id TEXT NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL REFERENCES blob (sha256),
    PRIMARY KEY (document_id, sha256)
) {strict};
CREATE INDEX document_of_blob ON document_blob (sha256);

CREATE TABLE recipient (
    id TEXT PRIMARY KEY,
    document_id TEXT NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    turn INTEGER NOT NULL,
    status TEXT NOT NULL,
    authentication TEXT NOT NULL,
    locale TEXT,
    fields TEXT NOT NULL,
    sent_at INTEGER,
    viewed_at INTEGER,
    completed_at INTEGER,
    declined_at INTEGER,
    decline_reason TEXT,
    reminders_sent INTEGER NOT NULL,
    last_reminded_at INTEGER,
    next_reminder_at INTEGER,
    delivery TEXT NOT NULL,
    delivery_at INTEGER,
    delivery_error TEXT,
    ink TEXT,
    consent TEXT,
    origin TEXT NOT NULL
) {strict};
CREATE UNIQUE INDEX recipient_of_document ON recipient (document_id, position);
CREATE INDEX recipient_to_remind ON recipient (next_reminder_at) WHERE next_reminder_at IS NOT NULL;

CREATE TABLE link (
    hash {bytes} PRIMARY KEY,
    recipient_id TEXT NOT NULL REFERENCES recipient (id) ON DELETE CASCADE,
    document_id TEXT NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    issued_to TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) {strict};
CREATE INDEX link_of_recipient ON link (recipient_id);
CREATE INDEX link_of_document ON link (document_id);

CREATE TABLE audit (
    document_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_id TEXT,
    recipient_id TEXT,
    data TEXT NOT NULL,
    personal TEXT,
    salt {bytes},
    personal_hash {bytes} NOT NULL,
    prev_hash {bytes} NOT NULL,
    hash {bytes} NOT NULL,
    PRIMARY KEY (document_id, seq)
) {strict};

CREATE TABLE event (
    id TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    mode TEXT NOT NULL,
    document_id TEXT,
    sequence INTEGER,
    type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    body {bytes} NOT NULL
) {strict};
CREATE UNIQUE INDEX event_in_document ON event (document_id, sequence);
CREATE INDEX event_newest ON event (organisation_id, mode, created_at, id);
CREATE INDEX event_age ON event (created_at);

CREATE TABLE webhook (
    id TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    mode TEXT NOT NULL,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    secret {bytes} NOT NULL,
    description TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    disabled_at INTEGER,
    disabled_reason TEXT,
    failing_since INTEGER,
    last_success_at INTEGER
) {strict};
CREATE INDEX webhook_of_organisation ON webhook (organisation_id, mode, created_at, id);

CREATE TABLE outbox (
    id {serial},
    kind TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    lane TEXT NOT NULL,
    document_id TEXT,
    body {bytes},
    state TEXT NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    boot TEXT,
    last_error TEXT,
    created_at INTEGER NOT NULL,
    finished_at INTEGER
) {strict};
CREATE INDEX outbox_due ON outbox (kind, due_at, id) WHERE state = 'pending';
CREATE INDEX outbox_leased ON outbox (boot) WHERE state = 'pending' AND boot IS NOT NULL;
CREATE INDEX outbox_of_document ON outbox (document_id);
CREATE INDEX outbox_of_lane ON outbox (lane) WHERE state = 'pending';
CREATE INDEX outbox_age ON outbox (finished_at) WHERE finished_at IS NOT NULL;

-- Mails kept instead of sent, where no mail server is set.
CREATE TABLE kept_mail (
    id TEXT PRIMARY KEY,
    message_id TEXT NOT NULL UNIQUE,
    recipient TEXT NOT NULL,
    subject TEXT NOT NULL,
    content {bytes} NOT NULL,
    created_at INTEGER NOT NULL
) {strict};
CREATE INDEX kept_mail_newest ON kept_mail (created_at, id);

-- What counts against the mails an organisation may send in a day (UTC).
CREATE TABLE mail_count (
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    day INTEGER NOT NULL,
    sent INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, day)
) {strict};

CREATE TABLE idempotency (
    key_id TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint {bytes} NOT NULL,
    status INTEGER NOT NULL,
    body {bytes} NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (key_id, key)
) {strict};
CREATE INDEX idempotency_age ON idempotency (created_at);

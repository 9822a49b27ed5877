-- Filters of the list of documents that a member keeps under a name; a shared one is shown to the whole organisation.
-- `query` is what stands behind the question mark of the list's address.
CREATE TABLE saved_view (
    id TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    mode TEXT NOT NULL,
    member_id TEXT REFERENCES member (id) ON DELETE SET NULL,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    shared INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) {strict};
CREATE INDEX saved_view_of_member ON saved_view (organisation_id, mode, member_id, created_at, id);
CREATE INDEX saved_view_shared ON saved_view (organisation_id, mode, created_at, id) WHERE shared = 1;
CREATE INDEX saved_view_by_member ON saved_view (member_id);

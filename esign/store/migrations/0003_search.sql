-- Lists walk along these; what they check on the way is in the index itself.
DROP INDEX document_newest;
CREATE INDEX document_newest
    ON document (organisation_id, mode, created_at, id, updated_at, completed_at, status);
CREATE INDEX document_recent
    ON document (organisation_id, mode, updated_at, id, created_at, completed_at, status);
DROP INDEX document_by_status;
CREATE INDEX document_newest_of_status
    ON document (organisation_id, mode, status, created_at, id, updated_at, completed_at);
CREATE INDEX document_recent_of_status
    ON document (organisation_id, mode, status, updated_at, id, created_at, completed_at);
-- Empty unless the clock of the machine was set back: only then may a document have changed before it was made.
CREATE INDEX document_out_of_time
    ON document (id) WHERE updated_at < created_at OR completed_at < created_at OR updated_at < completed_at;

-- What of a document is searched. The row goes with its words in the index, by store/search alone.
-- `number` rises with (created_at, id); `texts` are folded lines; `labels` name what else is looked up whole.
CREATE TABLE search (
    number INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL UNIQUE,
    texts TEXT NOT NULL,
    labels TEXT NOT NULL
) {strict};

-- Numbers whose old words may still stand in parts of the index that were not written anew since; see store/search.
CREATE TABLE search_rest (
    number INTEGER PRIMARY KEY,
    merging INTEGER NOT NULL DEFAULT 0
) {strict};

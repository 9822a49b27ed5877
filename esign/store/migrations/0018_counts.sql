-- 1 where a document needs somebody's attention (core/attention); written with the document.
ALTER TABLE document ADD COLUMN attention INTEGER NOT NULL DEFAULT 0;
UPDATE document SET attention = 1
WHERE status = 'sealing' AND seal_error IS NOT NULL
OR status = 'sent' AND EXISTS (
    SELECT 1 FROM recipient r
    WHERE r.document_id = document.id AND r.delivery = 'failed' AND r.status IN ('sent', 'viewed') AND r.role <> 'cc'
);
CREATE INDEX document_newest_of_attention
    ON document (organisation_id, mode, created_at, id, updated_at, completed_at, status) WHERE attention = 1;
CREATE INDEX document_recent_of_attention
    ON document (organisation_id, mode, updated_at, id, created_at, completed_at, status) WHERE attention = 1;

-- How many documents have each status, and how many of them need attention: kept by triggers, never counted again.
CREATE TABLE document_count (
    organisation_id TEXT NOT NULL REFERENCES organisation (id),
    mode TEXT NOT NULL,
    status TEXT NOT NULL,
    documents INTEGER NOT NULL,
    attention INTEGER NOT NULL,
    PRIMARY KEY (organisation_id, mode, status)
) {strict};
INSERT INTO document_count (organisation_id, mode, status, documents, attention)
SELECT organisation_id, mode, status, count(*), sum(attention) FROM document GROUP BY organisation_id, mode, status;

-- Which documents have which three letters in a row, and by `prefix` which one or two; it keeps no text.
CREATE VIRTUAL TABLE search_index USING fts5 (
    words, content = '', columnsize = 0, detail = none, tokenize = 'ascii', prefix = '1 2'
);

-- The functions search_… are those of store/words.
INSERT INTO search (number, document_id, texts, labels)
SELECT
    created_at * 4096 + 16 * row_number() OVER (PARTITION BY created_at ORDER BY id),
    id,
    search_texts(title, file, external_id, recipients),
    search_labels(organisation_id, mode, external_id, template_id, recipients)
FROM (
    SELECT d.*, (
        SELECT json_group_array(json_array(r.name, r.email)) FROM recipient r WHERE r.document_id = d.id
    ) AS recipients
    FROM document d
);
INSERT INTO search_index (rowid, words) SELECT number, search_words(texts, labels) FROM search;

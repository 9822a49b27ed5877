DELETE FROM document_blob WHERE (document_id, sha256) IN (
    SELECT d.id, image.value FROM document d, json_each(d.file, '$.images') image
    WHERE image.value NOT IN (d.file ->> '$.uploaded', d.file ->> '$.prepared')
);
DELETE FROM template_blob WHERE (template_id, sha256) IN (
    SELECT t.id, image.value FROM template t, json_each(t.file, '$.images') image
    WHERE image.value NOT IN (t.file ->> '$.uploaded', t.file ->> '$.prepared')
);
UPDATE document SET file = json_remove(file, '$.images');
UPDATE template SET file = json_remove(file, '$.images');

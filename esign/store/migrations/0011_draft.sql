-- What recipients have entered and not finished, by field, encrypted.
CREATE TABLE draft (
    recipient_id TEXT PRIMARY KEY REFERENCES recipient (id) ON DELETE CASCADE,
    content {bytes} NOT NULL
) {strict};

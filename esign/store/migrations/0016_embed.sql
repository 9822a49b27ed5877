-- The other applications that may show a signing page inside a page of theirs: a JSON list of origins.
ALTER TABLE organisation ADD COLUMN embed_origins TEXT NOT NULL DEFAULT '[]';

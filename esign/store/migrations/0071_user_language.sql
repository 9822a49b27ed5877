-- The language that a user chose for pages and notices; none for that of the browser.
ALTER TABLE app_user ADD COLUMN locale TEXT;

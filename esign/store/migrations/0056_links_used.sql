-- How a link or code reached its recipient: `reached` is what became of the mail that held it, 'email' when a mail server
-- took it, 'kept' when it stayed on this server; NULL while it waits, and for what was mailed before this was recorded.
ALTER TABLE link ADD COLUMN reached TEXT;
ALTER TABLE challenge ADD COLUMN reached TEXT;

-- The link and code with which a recipient acted last: email, sender or test; NULL where it was not recorded.
ALTER TABLE recipient ADD COLUMN link TEXT;
ALTER TABLE recipient ADD COLUMN code TEXT;

DROP INDEX api_key_of_organisation;
CREATE INDEX api_key_newest ON api_key (organisation_id, mode, created_at, id);
CREATE INDEX api_key_active ON api_key (organisation_id, created_at, id);

-- What an organisation has set for itself; NULL: as the installation has it, or none.
ALTER TABLE organisation ADD COLUMN expires_in_days INTEGER;
ALTER TABLE organisation ADD COLUMN reminders TEXT;
ALTER TABLE organisation ADD COLUMN retain_completed_days INTEGER;
ALTER TABLE organisation ADD COLUMN delete_closed_after_days INTEGER;
ALTER TABLE organisation ADD COLUMN max_key_lifetime_days INTEGER;

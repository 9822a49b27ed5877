DROP INDEX api_key_of_organisation;
CREATE INDEX api_key_newest ON api_key (organisation_id, mode, created_at, id);
CREATE INDEX api_key_active ON api_key (organisation_id, created_at, id);

CREATE TRIGGER document_counts_in AFTER INSERT ON document
BEGIN
    INSERT INTO document_count (organisation_id, mode, status, documents, attention)
    VALUES (NEW.organisation_id, NEW.mode, NEW.status, 1, NEW.attention)
    ON CONFLICT (organisation_id, mode, status)
    DO UPDATE SET documents = documents + 1, attention = attention + excluded.attention;
END;

CREATE TRIGGER document_counts_out AFTER DELETE ON document
BEGIN
    UPDATE document_count SET documents = documents - 1, attention = attention - OLD.attention
    WHERE organisation_id = OLD.organisation_id AND mode = OLD.mode AND status = OLD.status;
END;

CREATE TRIGGER document_counts_over AFTER UPDATE OF status, attention ON document
WHEN NEW.status <> OLD.status OR NEW.attention <> OLD.attention
BEGIN
    UPDATE document_count SET documents = documents - 1, attention = attention - OLD.attention
    WHERE organisation_id = OLD.organisation_id AND mode = OLD.mode AND status = OLD.status;
    INSERT INTO document_count (organisation_id, mode, status, documents, attention)
    VALUES (NEW.organisation_id, NEW.mode, NEW.status, 1, NEW.attention)
    ON CONFLICT (organisation_id, mode, status)
    DO UPDATE SET documents = documents + 1, attention = attention + excluded.attention;
END;

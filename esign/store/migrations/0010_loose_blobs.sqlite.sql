CREATE TRIGGER document_keeps_blob AFTER INSERT ON document_blob
BEGIN
    UPDATE blob SET loose = 0 WHERE sha256 = NEW.sha256 AND loose = 1;
END;

CREATE TRIGGER template_keeps_blob AFTER INSERT ON template_blob
BEGIN
    UPDATE blob SET loose = 0 WHERE sha256 = NEW.sha256 AND loose = 1;
END;

CREATE TRIGGER document_lets_blob_go AFTER DELETE ON document_blob
BEGIN
    UPDATE blob SET loose = 1 WHERE sha256 = OLD.sha256
    AND NOT EXISTS (SELECT 1 FROM document_blob d WHERE d.sha256 = OLD.sha256)
    AND NOT EXISTS (SELECT 1 FROM template_blob t WHERE t.sha256 = OLD.sha256);
END;

CREATE TRIGGER template_lets_blob_go AFTER DELETE ON template_blob
BEGIN
    UPDATE blob SET loose = 1 WHERE sha256 = OLD.sha256
    AND NOT EXISTS (SELECT 1 FROM document_blob d WHERE d.sha256 = OLD.sha256)
    AND NOT EXISTS (SELECT 1 FROM template_blob t WHERE t.sha256 = OLD.sha256);
END;

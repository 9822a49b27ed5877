-- The audit trail only grows; the one change allowed erases what is personal (contract D12).
CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail only grows');
END;

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
WHEN NOT (
    NEW.document_id = OLD.document_id AND NEW.seq = OLD.seq AND NEW.at = OLD.at AND NEW.type = OLD.type
    AND NEW.actor_kind = OLD.actor_kind AND NEW.actor_id IS OLD.actor_id
    AND NEW.recipient_id IS OLD.recipient_id AND NEW.data = OLD.data
    AND NEW.personal_hash = OLD.personal_hash AND NEW.prev_hash = OLD.prev_hash AND NEW.hash = OLD.hash
    AND NEW.personal IS NULL AND NEW.salt IS NULL
)
BEGIN
    SELECT RAISE(ABORT, 'the audit trail only grows');
END;

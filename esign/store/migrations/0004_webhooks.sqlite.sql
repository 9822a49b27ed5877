-- Deliveries were jobs before: their key was `<event>:<webhook>`.
INSERT INTO delivery (id, webhook_id, event_id, event_type, status, created_at, due_at, tries, attempt_count, last_error)
    SELECT 'dlv_' || lower(hex(randomblob(13))), substr(outbox.key, instr(outbox.key, ':') + 1), event.id, event.type, 'pending', outbox.created_at,
        outbox.due_at, outbox.attempts, outbox.attempts, outbox.last_error
    FROM outbox JOIN event ON event.id = substr(outbox.key, 1, instr(outbox.key, ':') - 1)
    WHERE outbox.kind = 'webhook' AND outbox.state = 'pending' ORDER BY outbox.id;
DELETE FROM outbox WHERE kind = 'webhook';

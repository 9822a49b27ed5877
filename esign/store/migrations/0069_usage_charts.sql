-- What the charts of the usage page count, raised in the transaction of their cause: documents completed on a day by the
-- time since they were sent, reminders, and recipients who finished within two days of one.
ALTER TABLE usage ADD COLUMN completed_in_hour INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN completed_in_day INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN completed_in_week INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN completed_later INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN reminders_sent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN reminders_answered INTEGER NOT NULL DEFAULT 0;

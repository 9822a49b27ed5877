"""The document list: tabs and filters, bulk actions on ticked documents, and the event log."""

"""The field editor, shared by drafts and templates."""

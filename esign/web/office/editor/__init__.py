"""The field editor, which drafts and templates share."""

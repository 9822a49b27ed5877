"""The state machine of a document: one module for each kind of transition."""

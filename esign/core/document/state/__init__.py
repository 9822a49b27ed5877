"""The state machine of a document: one module for each group of transitions."""

"""Floor 0, the rules: pure functions on frozen dataclasses; no I/O, no clock, no randomness, no framework."""

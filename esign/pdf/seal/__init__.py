"""The seal: one revision with the values, and one PAdES signature over all of it."""

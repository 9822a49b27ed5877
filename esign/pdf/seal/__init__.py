"""Making the seal: one revision with the values and the certificate page, and one PAdES signature over all of it."""

"""The pages before a session: signing in, and where mailed links lead."""

"""The pages before a session exists: signing in, and the pages that emailed and printed links open."""

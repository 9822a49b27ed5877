"""The browser of a member: its cookies, and how often it may try to sign in."""

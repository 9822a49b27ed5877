"""The session of a member's browser: its cookies, and the limits on attempts to sign in."""

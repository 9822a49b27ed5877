"""Why a mail did not leave, and what that means for the next attempt."""


class MailFailure(Exception):
    """`reason` is one line for people, with the server's own words where it said any."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class TemporaryFailure(MailFailure):
    """The same mail may leave later: server gone, busy, too slow, or set up wrongly."""


class PermanentFailure(MailFailure):
    """This mail to this recipient will never leave."""


class AuthenticationFailure(MailFailure):
    """The server does not take our user name and password: no mail will leave until somebody mends that."""

"""Why a mail did not leave, and what that means for the next attempt."""


class MailFailure(Exception):
    """`reason` is one line for people, with the server's own words where it said any."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class TemporaryFailure(MailFailure):
    """This mail may leave later: the server put it off, or fell silent in the middle of it.

    `heard`: the server listened to whom it is for, so that it works for us.
    """

    heard = True


class OptionFailure(TemporaryFailure):
    """The server does not take now what this mail asks for and not every mail does."""

    heard = False


class RelayFailure(TemporaryFailure):
    """The server takes no mail now: gone, busy, too slow, or set up wrongly. It says nothing about this mail."""

    def again(self) -> "RelayFailure":
        """Return the same failure for another mail."""
        return type(self)(self.reason)


class AuthenticationFailure(RelayFailure):
    """The server does not take our user name and password: no mail leaves until somebody mends that."""


class PermanentFailure(MailFailure):
    """This mail to this recipient will never leave."""

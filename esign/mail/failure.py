"""The failures of sending a mail, and what each means for the next attempt."""


class MailFailure(Exception):
    """A mail was not sent; `reason` is one line for people, with the server's own words if there are any."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class TemporaryFailure(MailFailure):
    """This mail may be sent later: the server deferred it, or stopped answering in the middle of it.

    `heard` is true if the server was given the recipient, which shows that it serves us.
    """

    heard = True


class OptionFailure(TemporaryFailure):
    """The server does not take now what this mail needs and other mails do not."""

    heard = False


class RelayFailure(TemporaryFailure):
    """The server takes no mail now: unreachable, busy, slow, or misconfigured. This is not about the mail."""

    def repeat_failure(self) -> "RelayFailure":
        """Return the same failure for another mail."""
        return type(self)(self.reason)


class AuthenticationFailure(RelayFailure):
    """The server does not accept our user name and password: no mail is sent until the settings are corrected."""


class PermanentFailure(MailFailure):
    """This mail to this recipient can never be sent."""

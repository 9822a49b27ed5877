"""The administrative audit log of an organisation: its types of entries, and which failed sign-ins it records."""

from collections.abc import Mapping

from esign.core.instant import HOUR, Millis

# Every type of entry, with what happened. `{…}` are members of `data`; the office puts them into the sentence.
ACTS: Mapping[str, str] = {
    "member.signed_in": "Signed in",
    "member.sign_in_failed": "Sign-in failed",
    "member.signed_out": "Signed out",
    "member.password_reset_requested": "Password reset asked for",
    "member.password_changed": "Password changed",
    "member.factor_enabled": "Second factor switched on",
    "member.factor_disabled": "Second factor switched off",
    "member.recovery_codes_renewed": "Recovery codes renewed",
    "member.invited": "Member invited",
    "member.joined": "Member joined",
    "member.changed": "Member changed",
    "member.removed": "Member removed",
    "member.disabled": "Account disabled",
    "member.enabled": "Account enabled",
    "api_key.created": "API token made",
    "api_key.renamed": "API token renamed",
    "api_key.revoked": "API token revoked",
    "settings.changed": "Settings changed",
    "webhook.created": "Webhook made",
    "webhook.changed": "Webhook changed",
    "webhook.deleted": "Webhook deleted",
    "webhook.secret_rotated": "Webhook secret renewed",
    "documents.exported": "Documents downloaded as a ZIP",
    "documents.listed": "List of documents downloaded as CSV",
    "document.deleted": "Document deleted",
    "template.deleted": "Template deleted",
    "erasure.requested": "Erasure of a person asked for",
    "erasure.finished": "Erasure of a person finished",
    "audit.erased": "Personal data erased from this log",
    "seal.changed": "Seal certificate changed",
    "clock.confirmed": "Clock of the server confirmed",
    "server.changed": "Address or mail server changed",
    "organisation.created": "Organisation made",
    "organisation.plan_changed": "Plan changed",
}

RECORDED = "audit.recorded"  # the event that tells webhooks of an entry
WINDOW: Millis = HOUR
FIRST = 5


def is_entered(tries: int) -> bool:
    """Return whether the failure of this number within its hour is recorded: the first 5, then 10, 20, 40, ….

    Guessing at passwords makes the log longer only by the logarithm of the number of tries.
    """
    if tries <= FIRST:
        return True
    times, rest = divmod(tries, FIRST)
    return rest == 0 and times & (times - 1) == 0

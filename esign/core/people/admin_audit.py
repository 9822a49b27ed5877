"""The administrative audit log of an organisation: its types of entries, and which failed sign-ins it records."""

from esign.core.instant import HOUR, Millis

# Every type of entry.
ACTS = (
    "member.signed_in",
    "member.sign_in_failed",
    "member.signed_out",
    "member.password_reset_requested",
    "member.password_changed",
    "member.factor_enabled",
    "member.factor_disabled",
    "member.recovery_codes_renewed",
    "member.invited",
    "member.joined",
    "member.changed",
    "member.removed",
    "member.disabled",
    "member.enabled",
    "api_key.created",
    "api_key.renamed",
    "api_key.revoked",
    "settings.changed",
    "webhook.created",
    "webhook.changed",
    "webhook.deleted",
    "webhook.secret_rotated",
    "documents.exported",
    "documents.listed",
    "document.deleted",
    "template.deleted",
    "erasure.requested",
    "erasure.finished",
    "audit.erased",
    "seal.changed",
    "clock.confirmed",
    "job.retried",
    "app_key.exchange_begun",
    "app_key.exchanged",
    "server.changed",
    "organisation.created",
    "organisation.plan_changed",
)

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

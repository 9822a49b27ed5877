"""The sentences that a page of the office shows once, after a redirect, about what was just done.

The address of the redirect carries the key, such as `done=sent`, and never the sentence.
"""

from collections.abc import Mapping

from esign.web.office.frame.words import OfficeWords

DONE: Mapping[str, str] = {
    "signed-out": "sign_in.done.signed_out",
    "ended": "frame.done.ended",
    "ended-file": "frame.done.ended_file",
    "password": "sign_in.done.password",
    "password-changed": "settings.done.password",
    "name": "settings.done.name",
    "language": "frame.done.language",
    "address": "server.done.address",
    "mail-server": "server.done.mail_server",
    "mail-server-removed": "server.done.mail_server_removed",
    "clock": "server.done.clock",
    "factor-off": "settings.done.factor_off",
    "session-ended": "settings.done.session_ended",
    "sessions-ended": "settings.done.sessions_ended",
    "joined": "sign_in.done.joined",
    "invited": "settings.done.invited",
    "invited-again": "settings.done.invited_again",
    "mail-tried": "server.done.mail_tried",
    "retried": "server.done.retried",
    "not-retried": "server.done.not_retried",
    "role": "settings.done.role",
    "removed": "settings.done.removed",
    "removed-keys": "settings.done.removed_keys",
    "mode-live": "frame.done.live",
    "mode-test": "frame.done.test",
    "organisation": "frame.done.organisation",
    "not-a-draft": "draft.done.not_a_draft",
    "ready": "server.done.ready",
    "own-fields-undone": "draft.done.fields_removed",
    "contact-saved": "draft.done.contact_saved",
    "contact-removed": "draft.done.contact_removed",
    "draft-saved": "draft.done.saved",
    "file-replaced": "draft.done.file_replaced",
    "sent": "draft.done.sent",
    "discarded": "draft.done.discarded",
    "unblocked": "document.done.unblocked",
    "not-blocked": "document.done.not_blocked",
    "reminded": "document.done.reminded",
    "corrected": "document.done.corrected",
    "recipient-added": "document.done.recipient_added",
    "recipient-changed": "document.done.recipient_changed",
    "recipient-removed": "document.done.recipient_removed",
    "cancelled": "document.done.cancelled",
    "expiry": "document.done.expiry",
    "reminders": "document.done.reminders",
    "reference": "document.done.reference",
    "duplicated": "document.done.duplicated",
    "view-saved": "documents.done.view_saved",
    "view-deleted": "documents.done.view_deleted",
    "document-deleted": "documents.done.document_deleted",
    "seal-retried": "document.done.seal_retried",
    "template-made": "template.done.made",
    "template-saved": "template.done.saved",
    "template-deleted": "template.done.deleted",
    "used": "template.done.used",
    "not-sent": "template.done.not_sent",
    "simulated": "document.done.simulated",
    "token-named": "settings.done.key_renamed",
    "token-revoked": "settings.done.key_revoked",
    "webhook-saved": "webhook.done.saved",
    "webhook-on": "webhook.done.on",
    "webhook-off": "webhook.done.off",
    "webhook-deleted": "webhook.done.deleted",
    "settings": "settings.done.settings",
    "erasure": "settings.done.erasure",
    "logo": "settings.done.logo",
    "logo-removed": "settings.done.logo_removed",
    "seal-uploaded": "server.done.seal_uploaded",
    "seal-back": "server.done.seal_back",
    "seal-new": "server.done.seal_new",
    "delivered": "webhook.done.delivered",
    "delivery-failed": "webhook.done.delivery_failed",
}

NOT_MAILED: Mapping[str, str] = {  # replace those of DONE and COUNTED while no mail leaves
    "invited": "settings.done.invited_kept",
    "invited-again": "settings.done.invited_again_kept",
    "sent": "draft.done.sent_not_mailed",
    "reminded": "document.done.reminded_kept",
    "corrected": "document.done.corrected_kept",
    "documents-remind": "documents.done.remind_kept",
}

COUNTED: Mapping[str, str] = {
    "documents-remind": "documents.done.remind",
    "kept-mailed": "document.done.kept_mailed",
    "documents-cancel": "documents.done.cancel",
    "documents-delete": "documents.done.delete",
    "documents-retry-seal": "documents.done.retry_seal",
}


def find_message(query: Mapping[str, str], words: OfficeWords, *, mails: bool = True) -> str | None:
    """Return the sentence that the query of an address names, or None.

    A number in the address is only ever shown as a number. `mails` is False while no mail leaves; the sentence
    then says so.
    """
    name, number = query.get("done", ""), query.get("number", "")
    if not mails and name in NOT_MAILED:
        return words(NOT_MAILED[name])
    if name in COUNTED and number.isascii() and number.isdigit() and len(number) < 4:
        return words.count(COUNTED[name], int(number))
    return words(DONE[name]) if name in DONE else None

"""The sentences that a page of the office shows once, after a redirect, about what was just done.

The address of the redirect carries the key, such as `done=sent`, and never the sentence.
"""

from collections.abc import Mapping

DONE: Mapping[str, str] = {
    "signed-out": "You are signed out.",
    "ended": "You were signed out meanwhile, so nothing was done. Sign in, and do it again.",
    "ended-file": "You were signed out meanwhile, so no file was taken. Sign in, and choose it again.",
    "password": "Your new password is set. Sign in with it.",
    "password-changed": "Your password is changed. Other browsers were signed out.",
    "name": "Your name is saved.",
    "language": "Language saved.",
    "address": "Address saved.",
    "mail-server": "Mail server saved. Emails that wait are on their way.",
    "mail-server-removed": "Mail server removed. Emails stay on this server.",
    "clock": "esign goes by the clock of this machine again.",
    "factor-off": "The second factor is off. Other browsers were signed out.",
    "session-ended": "That browser is signed out.",
    "sessions-ended": "All other browsers are signed out.",
    "joined": "Welcome. You have joined.",
    "invited": "They are invited. The link is being mailed.",
    "invited-again": "They are invited anew. The new link is being mailed; the one before it no longer works.",
    "mail-tried": "The mail server is asked now. Look again in a moment.",
    "role": "The role is changed.",
    "removed": "The member is removed and signed out.",
    "removed-keys": "The member is removed and signed out, and the tokens they made are revoked.",
    "mode-live": "You are in live mode.",
    "mode-test": "You are in test mode.",
    "organisation": "You are now in this organisation.",
    "not-a-draft": "This document was sent, so its fields can’t be changed.",
    "ready": "Everything is set up.",
    "own-fields-undone": "Fields removed. The pages look as they did in your file.",
    "contact-saved": "Person saved.",
    "contact-removed": "Person removed.",
    "draft-saved": "Draft saved.",
    "file-replaced": "File replaced.",
    "sent": "The document is out for signing. The invitations are being mailed.",
    "discarded": "The draft is discarded.",
    "unblocked": "They can try their code again.",
    "not-blocked": "They could try their code already. Nothing has changed.",
    "reminded": "The reminder is being mailed.",
    "corrected": "It is corrected. Who was invited before gets a new link; the old one no longer works.",
    "recipient-added": "The recipient is added.",
    "recipient-changed": "The recipient is changed.",
    "recipient-removed": "The recipient is removed.",
    "cancelled": "The document is cancelled. Nobody can sign it any more.",
    "expiry": "The expiry date is changed.",
    "reminders": "The reminders are changed.",
    "reference": "Reference and notes are saved.",
    "duplicated": "This is the copy: a new draft.",
    "view-saved": "View saved.",
    "view-deleted": "View deleted.",
    "document-deleted": "The document is deleted.",
    "seal-retried": "The seal is tried again now.",
    "template-made": "The template is made.",
    "template-saved": "The template is saved.",
    "template-deleted": "The template is deleted.",
    "used": "The draft is made. Look at it, then send it.",
    "not-sent": "The document could not be sent yet. It waits here as a draft.",
    "simulated": "Done. The timeline says that it was simulated.",
    "token-named": "The name is saved.",
    "token-revoked": "The token is revoked. The next request with it is refused.",
    "webhook-saved": "The webhook is saved.",
    "webhook-on": "The webhook is switched on.",
    "webhook-off": "The webhook is switched off. Nothing is sent to it.",
    "webhook-deleted": "The webhook is deleted.",
    "settings": "The settings are saved.",
    "erasure": "It has begun, and goes on by itself. You see here how far it has come.",
    "logo": "Logo saved.",
    "logo-removed": "Logo removed.",
    "seal-uploaded": "Documents are sealed with the uploaded certificate from now on.",
    "seal-back": "Documents are sealed with the certificate made here again.",
    "seal-new": "A new certificate is made. Documents are sealed with it from now on.",
    "delivered": "Sent, and the program has taken it.",
    "delivery-failed": "Sent, but the program has not taken it.",
}

NOT_MAILED: Mapping[str, str] = {  # replace those of DONE and COUNTED while no mail leaves
    "invited": "They are invited, but not mailed. Choose “Invitation link” beside their name, and give them the link.",
    "invited-again": "They are invited anew, but not mailed. Choose “Invitation link” beside their name, and give them"
    " the link; the one before it no longer works.",
    "sent": "The document is out for signing, but not mailed. Give the recipients their signing links.",
    "reminded": "Not mailed: the reminder waits here. Give the recipients their signing links.",
    "corrected": "It is corrected, but not mailed. Who was invited before needs a new signing link from you; the old"
    " one no longer works.",
    "documents-remind": "Not mailed: the reminders wait here. Give the recipients their signing links.",
}

COUNTED: Mapping[str, tuple[str, str]] = {
    "documents-remind": ("The reminder is being mailed.", "Reminders for {} documents are being mailed."),
    "kept-mailed": ("The invitation is being mailed.", "{} invitations are being mailed."),
    "documents-cancel": ("The document is cancelled.", "{} documents are cancelled."),
    "documents-delete": ("The document is deleted.", "{} documents are deleted."),
    "documents-retry-seal": (
        "The seal is tried again now.",
        "The seals of {} documents are tried again now.",
    ),
}


def find_message(query: Mapping[str, str], *, mails: bool = True) -> str | None:
    """Return the sentence that the query of an address names, or None.

    A number in the address is only ever shown as a number. `mails` is False while no mail leaves; the sentence
    then says so.
    """
    name, number = query.get("done", ""), query.get("number", "")
    if not mails and name in NOT_MAILED:
        return NOT_MAILED[name]
    if name in COUNTED and number.isascii() and number.isdigit() and len(number) < 4:
        one, more = COUNTED[name]
        return one if int(number) == 1 else more.format(int(number))
    return DONE.get(name)

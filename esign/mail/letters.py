"""Letters about signing. Everything in a mail is data, never markup."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from esign.core.document import estimate, signing_link
from esign.core.document.challenge import LIVES
from esign.core.document.completion import find_completion
from esign.core.document.document import Recipient, Role
from esign.core.document.filename import name_file
from esign.core.instant import MINUTE
from esign.core.people.masking import mask_email
from esign.mail.outgoing_mail import DocumentMail
from esign.mail.sheet import LetterButton, LetterNote, LetterRow, LetterSheet
from esign.mail.words import LetterWords, write_line

# What a letter asks of its reader, as it stands in the keys of phrases.
PARTS: Mapping[Role, str] = {
    Role.SIGNER: "sign",
    Role.APPROVER: "approve",
    Role.VIEWER: "read",
    Role.CC: "read",
}


def write_invitation(mail: DocumentMail, words: LetterWords) -> LetterSheet:
    """Write the invitation to sign, approve or read."""
    document, to = mail.document, mail.recipient
    assert to is not None and mail.link is not None
    part, asked = PARTS[to.role], estimate.count_answers(to)
    minutes = estimate.estimate_minutes(document.page_count, asked)
    size = {"pages": words.count("pages", document.page_count), "minutes": words.count("minutes", minutes)}
    if asked:
        contents = words.say("invitation_document", fields=words.count("fields", asked), **size)
    else:
        contents = words.say("invitation_document_bare", **size)
    rows = [LetterRow(words.say("label_document"), contents)]
    if document.expires_at is not None:
        rows.append(LetterRow(words.say("label_until"), words.moment(document.expires_at)))
    source = f"{mail.sender}, {mail.organisation.name}" if mail.sender else mail.organisation.name
    rows.append(LetterRow(words.say("label_from"), write_line(source)))
    return LetterSheet(
        subject=write_line(document.subject or "")
        or words.say(f"invitation_subject_{part}", title=document.title),
        preheader=words.say("invitation_preheader", **size),
        heading=words.say(f"invitation_heading_{part}", sender=mail.asker, title=document.title),
        greeting=write_greeting(words, to.name),
        note=build_note(words.say("writes", sender=mail.asker), document.message),
        button=LetterButton(words.say(f"begin_{part}"), mail.link),
        rows=tuple(rows),
        small=(
            words.say(f"invitation_small_{part}"),
            words.join(_write_link_warning(words, mail.link), words.say("unexpected")),
        ),
    )


def write_reminder(mail: DocumentMail, words: LetterWords) -> LetterSheet:
    """Write the reminder to a recipient who has not finished."""
    document, to = mail.document, mail.recipient
    assert to is not None and mail.link is not None
    part, names = PARTS[to.role], {"sender": mail.asker, "title": document.title}
    filled = words.count("fields_of", estimate.count_answers(to), filled=mail.filled)
    rows = [LetterRow(words.say("label_filled"), filled)] if mail.filled else []
    preheader = words.say("reminder_preheader_bare", **names)
    if document.expires_at is not None:
        left = words.days_left(mail.now, document.expires_at)
        moment = words.say("reminder_until", until=words.moment(document.expires_at), left=left)
        rows.append(LetterRow(words.say("label_until"), moment))
        key = "reminder_preheader_filled" if mail.filled else "reminder_preheader"
        preheader = words.say(key, filled=filled, until=words.day(document.expires_at))
    return LetterSheet(
        subject=words.say(f"reminder_subject_{part}", title=document.title),
        preheader=preheader,
        heading=words.say(f"reminder_heading_{part}"),
        greeting=write_greeting(words, to.name),
        paragraphs=(words.say(f"reminder_{'kept' if mail.filled else 'lead'}_{part}", **names),),
        note=build_note(words.say("writes", sender=mail.asker), mail.message),
        button=LetterButton(words.say("carry_on" if mail.filled else f"begin_{part}"), mail.link),
        rows=tuple(rows),
        small=(words.say(f"reminder_small_{part}"), _write_link_warning(words, mail.link)),
    )


def write_completed(mail: DocumentMail, words: LetterWords) -> LetterSheet:
    """Write the letter that says that all have acted and the document is sealed.

    The sealed file is attached, linked, both or neither.
    """
    document, seal, to = mail.document, mail.document.seal, mail.recipient
    assert seal is not None
    key = {
        (False, False): "completed_lead",
        (True, False): "completed_attached",
        (False, True): "completed_linked",
        (True, True): "completed_both",
    }[bool(mail.attachments), mail.link is not None]
    size = words.size(seal.size)
    lead = [words.say(key, title=document.title)]
    if to is not None and not to.acting:
        lead.append(words.say("completed_copy", sender=mail.asker))
    small = [words.say("completed_small")]
    if mail.link and (until := signing_link.find_end(document, mail.link_days)) is not None:
        small.append(words.say("completed_until", until=words.moment(until)))
    name = name_file(document, "sealed")
    completion, only = find_completion(document)
    who = {"name": only.name} if only else {}
    return LetterSheet(
        subject=words.say(f"completed_subject_{completion}", title=document.title, **who),
        preheader=words.say("completed_preheader"),
        heading=words.say(f"completed_heading_{completion}", **who),
        greeting=write_greeting(words, mail.reader),
        paragraphs=tuple(lead),
        button=LetterButton(words.say("download"), mail.link) if mail.link else None,
        rows=(
            *(
                _build_signed_row(words, recipient, is_reader=to is not None and recipient.id == to.id)
                for recipient in document.recipients
                if recipient.acting and recipient.completed_at is not None
            ),
            LetterRow(words.say("label_sealed"), words.moment(seal.sealed_at)),
            LetterRow(words.say("label_file"), words.say("completed_file", name=name, size=size)),
        ),
        small=tuple(small),
    )


def write_corrected(mail: DocumentMail, words: LetterWords) -> LetterSheet:
    """Write the letter to a former address that the document goes to another address now."""
    title = mail.document.title
    assert mail.to is not None and mail.about is not None
    return LetterSheet(
        subject=words.say("corrected_subject", title=title),
        preheader=words.say("corrected_preheader"),
        heading=words.say("corrected_heading", title=title),
        greeting=write_greeting(words, mail.to.name),
        paragraphs=(
            words.say("corrected_lead", sender=mail.asker),
            words.say("corrected_to", address=mask_email(mail.about.email)),
        ),
        small=(words.say("corrected_small"),),
    )


def write_code(mail: DocumentMail, words: LetterWords) -> LetterSheet:
    """Write the letter with a six-digit code, which its reader enters on the page that they have open.

    Its subject does not contain the code, because locked screens show it and logs keep it.
    """
    to, code, until, minutes = mail.recipient, mail.code, mail.until, LIVES // MINUTE
    assert to is not None and code is not None and until is not None
    return LetterSheet(
        subject=words.say("code_subject", organisation=mail.organisation.name),
        preheader=words.say("code_preheader", minutes=minutes),
        heading=words.say("code_heading"),
        greeting=words.say("hello", name=to.name),
        paragraphs=(words.say("code_lead"),),
        code=f"{code[:3]}\N{NO-BREAK SPACE}{code[3:]}",
        small=(
            words.say("code_until", minutes=minutes, until=words.moment(until)),
            words.say("code_small", sender=mail.asker),
        ),
    )


def write_greeting(words: LetterWords, name: str | None) -> str:
    return words.say("hello", name=name) if name else words.say("hello_nobody")


def _write_link_warning(words: LetterWords, link: str) -> str:
    return words.say("alone", host=urlsplit(link).netloc)


def _build_signed_row(words: LetterWords, recipient: Recipient, *, is_reader: bool) -> LetterRow:
    part, at = PARTS[recipient.role], words.moment(recipient.completed_at or 0)
    if is_reader:
        return LetterRow(words.say(f"label_you_{part}"), at)
    if recipient.role is Role.APPROVER:
        at = words.say("approve_done", at=at)
    return LetterRow(write_line(recipient.name), at, is_name=True)


def build_note(introduction: str, text: str | None) -> LetterNote | None:
    """Return the message of a person: empty lines separate paragraphs, other line ends are kept.

    None if it is blank.
    """
    parts = re.split(r"\n(?:[ \t]*\n)+", "\n".join((text or "").splitlines()))
    paragraphs = tuple(tuple(map(write_line, part.strip("\n").split("\n"))) for part in parts if part.strip())
    return LetterNote(introduction, paragraphs) if paragraphs else None

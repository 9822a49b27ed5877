"""Letters about documents that ended without a seal."""

from esign.core.document.document import Recipient, RecipientStatus
from esign.mail.letters import PARTS, build_note, write_greeting
from esign.mail.outgoing_mail import DocumentMail
from esign.mail.sheet import LetterRow, LetterSheet
from esign.mail.words import LetterWords, write_line


def write_declined(mail: DocumentMail, words: LetterWords) -> LetterSheet:
    """Write the letter that says that a recipient has declined: to the sender, to another recipient, or to them."""
    document, to = mail.document, mail.recipient
    who = next(r for r in document.recipients if r.status is RecipientStatus.DECLINED)
    reader = "sender" if to is None else "self" if to.id == who.id else "recipient"
    heading = f"declined_heading{'_self' if reader == 'self' else ''}_{PARTS[who.role]}"
    return LetterSheet(
        subject=words.say("declined_subject", title=document.title),
        preheader=words.say("declined_preheader"),
        heading=words.say(heading, who=who.name, title=document.title),
        greeting=write_greeting(words, mail.reader),
        paragraphs=(words.say(f"declined_{reader}", sender=mail.asker),),
        note=build_note(words.say("reason"), who.decline_reason),
        rows=(_build_end_row(mail, words, "label_declined"),),
    )


def write_expired(mail: DocumentMail, words: LetterWords) -> LetterSheet:
    """Write the letter to the sender that says that the document has expired, and who has acted until then."""
    document = mail.document
    return LetterSheet(
        subject=words.say("expired_subject", title=document.title),
        preheader=words.say("expired_preheader"),
        heading=words.say("expired_heading", title=document.title),
        greeting=write_greeting(words, mail.reader),
        paragraphs=(words.say("expired_lead"),),
        rows=(
            *(
                LetterRow(write_line(recipient.name), _describe_progress(words, recipient), is_name=True)
                for recipient in document.recipients
                if recipient.acting
            ),
            _build_end_row(mail, words, "label_expired"),
        ),
    )


def write_renewal(mail: DocumentMail, words: LetterWords) -> LetterSheet:
    """Write the letter to the sender that a recipient of an expired document asks for a new link."""
    title, who = mail.document.title, mail.about
    assert who is not None
    return LetterSheet(
        subject=words.say("renewal_subject", who=who.name, title=title),
        preheader=words.say("renewal_preheader"),
        heading=words.say("renewal_heading", who=who.name, title=title),
        greeting=write_greeting(words, mail.reader),
        paragraphs=(words.say("renewal_lead", who=who.name), words.say("renewal_how")),
        rows=(
            LetterRow(write_line(who.name), write_line(who.email), is_name=True),
            _build_end_row(mail, words, "label_expired"),
        ),
        small=(words.say("renewal_small"),),
    )


def write_cancelled(mail: DocumentMail, words: LetterWords) -> LetterSheet:
    """Write the letter that says that the sender has cancelled the document."""
    document = mail.document
    return LetterSheet(
        subject=words.say("cancelled_subject", title=document.title),
        preheader=words.say("cancelled_preheader"),
        heading=words.say("cancelled_heading", sender=mail.asker, title=document.title),
        greeting=write_greeting(words, mail.reader),
        paragraphs=(words.say("cancelled_lead"),),
        note=build_note(words.say("reason"), document.close_reason),
        rows=(_build_end_row(mail, words, "label_cancelled"),),
    )


def _build_end_row(mail: DocumentMail, words: LetterWords, label: str) -> LetterRow:
    return LetterRow(words.say(label), words.moment(mail.document.closed_at or mail.now))


def _describe_progress(words: LetterWords, recipient: Recipient) -> str:
    part = PARTS[recipient.role]
    if recipient.completed_at is None:
        return words.say(f"{part}_missing")
    return words.say(f"{part}_done", at=words.moment(recipient.completed_at))

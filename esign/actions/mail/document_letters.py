"""Gathers the facts that a letter about a document is written from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from esign.core.actor import Mode
from esign.core.document import estimate, signing_link
from esign.core.document.challenge import LIVES
from esign.core.document.document import Document, Recipient, RecipientStatus, Role
from esign.core.document.filename import name_file
from esign.core.instant import MINUTE, Instant
from esign.core.people.account import Organisation
from esign.core.people.masking import mask_email
from esign.mail import codes, endings, letters
from esign.mail.endings import (
    CancelledFacts,
    CorrectedFacts,
    DeclinedFacts,
    DeclineReader,
    ExpiredFacts,
    RenewalFacts,
)
from esign.mail.letters import CompletedFacts, InvitationFacts, LetterPart, ReminderFacts, SignerProgress
from esign.mail.message import NamedMailbox
from esign.mail.sheet import InlinePicture, Letter, Letterhead

PARTS = {
    Role.SIGNER: LetterPart.SIGN,
    Role.APPROVER: LetterPart.APPROVE,
    Role.VIEWER: LetterPart.READ,
    Role.CC: LetterPart.READ,
}


@dataclass(frozen=True, slots=True)
class Post:
    """One letter about a document: to a recipient with their link, to the mailbox `to`, or else to the sender.

    `about` is the recipient whom the letter speaks of. `filled` is the number of fields that the recipient has
    filled in.
    """

    document: Document
    organisation: Organisation
    letter: str
    recipient: Recipient | None
    token: str | None
    message: str | None = None
    code: str | None = None
    until: Instant | None = None
    about: Recipient | None = None
    to: NamedMailbox | None = None
    filled: int = 0
    logo: InlinePicture | None = None


@dataclass(frozen=True, slots=True)
class LetterFacts:
    """What every letter needs beside the post itself."""

    base_url: str
    post: Post
    now: Instant
    attached: bool
    link_days: int

    @property
    def head(self) -> Letterhead:
        """Return the letterhead, in the language of the reader, else of the document, else of the organisation."""
        post = self.post
        reader = post.recipient or (post.about if post.to else None)
        own = reader.locale if reader else None
        return Letterhead(
            organisation=post.organisation.name,
            colour=post.organisation.colour,
            locale=own or post.document.locale or post.organisation.locale,
            time_zone=post.organisation.time_zone,
            test=post.document.mode is Mode.TEST,
            logo=post.logo,
        )

    @property
    def link(self) -> str | None:
        """Return the signing link of the letter, or None."""
        return f"{self.base_url}/s/{self.post.token}" if self.post.token else None

    @property
    def sender(self) -> str | None:
        """Return the name of the member who sent the document, or None if a program of the organisation did."""
        creator = self.post.document.created_by
        return creator.name if creator.kind == "member" else None

    @property
    def reader(self) -> str | None:
        """Return the name of the recipient, or None for a letter to the sender."""
        return self.post.recipient.name if self.post.recipient else None


def write_letter(base_url: str, post: Post, now: Instant, attached: bool, link_days: int) -> Letter:
    """Write the letter with the facts as they are `now`. `attached` says whether the sealed file comes with it."""
    return LETTERS[post.letter](LetterFacts(base_url, post, now, attached, link_days))


def write_invitation(desk: LetterFacts) -> Letter:
    """Write the invitation to sign, approve or read."""
    document, to = desk.post.document, desk.post.recipient
    assert to is not None and desk.link is not None
    asked = estimate.count_answers(to)
    return letters.write_invitation(
        InvitationFacts(
            head=desk.head,
            to=to.name,
            sender=desk.sender,
            title=document.title,
            link=desk.link,
            pages=document.page_count,
            fields=asked,
            minutes=estimate.estimate_minutes(document.page_count, asked),
            until=document.expires_at,
            subject=document.subject,
            message=document.message,
            part=PARTS[to.role],
        )
    )


def write_reminder(desk: LetterFacts) -> Letter:
    """Write the reminder to a recipient who has not finished."""
    document, to = desk.post.document, desk.post.recipient
    assert to is not None and desk.link is not None
    return letters.write_reminder(
        ReminderFacts(
            head=desk.head,
            to=to.name,
            sender=desk.sender,
            title=document.title,
            link=desk.link,
            filled=desk.post.filled,
            fields=estimate.count_answers(to),
            now=desk.now,
            until=document.expires_at,
            message=desk.post.message,
            part=PARTS[to.role],
        )
    )


def write_completed(desk: LetterFacts) -> Letter:
    """Write the letter that says that all have acted and the document is sealed."""
    document, seal, to = desk.post.document, desk.post.document.seal, desk.post.recipient
    assert seal is not None
    return letters.write_completed_letter(
        CompletedFacts(
            head=desk.head,
            to=desk.reader,
            title=document.title,
            signers=list_signers(desk.post),
            sealed_at=seal.sealed_at,
            file_name=name_file(document, "sealed"),
            size=seal.size,
            attached=desk.attached,
            link=desk.link,
            until=signing_link.find_end(document, desk.link_days) if desk.link else None,
            copied_by=None if to is None or to.acting else desk.sender or desk.head.organisation,
        )
    )


def write_declined(desk: LetterFacts) -> Letter:
    """Write the letter that says that a recipient has declined."""
    document, to = desk.post.document, desk.post.recipient
    who = next(r for r in document.recipients if r.status is RecipientStatus.DECLINED)
    reader = (
        DeclineReader.SENDER
        if to is None
        else DeclineReader.SELF
        if to.id == who.id
        else DeclineReader.RECIPIENT
    )
    return endings.write_declined_letter(
        DeclinedFacts(
            head=desk.head,
            to=desk.reader,
            reader=reader,
            sender=desk.sender,
            title=document.title,
            who=who.name,
            at=document.closed_at or desk.now,
            reason=who.decline_reason,
            part=PARTS[who.role],
        )
    )


def write_expired(desk: LetterFacts) -> Letter:
    """Write the letter that says that the document has expired."""
    document = desk.post.document
    return endings.write_expired_letter(
        ExpiredFacts(
            head=desk.head,
            to=desk.reader,
            title=document.title,
            at=document.closed_at or desk.now,
            signers=list_signers(desk.post),
        )
    )


def write_renewal(desk: LetterFacts) -> Letter:
    """Write the letter to the sender that a recipient asks for a new link."""
    document, who = desk.post.document, desk.post.about
    assert who is not None
    return endings.write_renewal_letter(
        RenewalFacts(
            head=desk.head,
            to=desk.reader,
            title=document.title,
            who=who.name,
            email=who.email,
            at=document.closed_at or desk.now,
        )
    )


def write_cancelled(desk: LetterFacts) -> Letter:
    """Write the letter that says that the sender has cancelled the document."""
    document, to = desk.post.document, desk.post.recipient
    assert to is not None
    return endings.write_cancelled_letter(
        CancelledFacts(
            head=desk.head,
            to=to.name,
            sender=desk.sender,
            title=document.title,
            at=document.closed_at or desk.now,
            reason=document.close_reason,
        )
    )


def write_corrected(desk: LetterFacts) -> Letter:
    """Write the letter to a former address that the document goes to another address now."""
    document, to, about = desk.post.document, desk.post.to, desk.post.about
    assert to is not None and about is not None
    now_at = mask_email(about.email)
    return endings.write_corrected_letter(
        CorrectedFacts(desk.head, to.name, desk.sender, document.title, now_at)
    )


def write_code(desk: LetterFacts) -> Letter:
    """Write the letter with a code that opens a signing link."""
    to, post = desk.post.recipient, desk.post
    assert to is not None and post.code is not None and post.until is not None
    return codes.write_code_letter(
        codes.CodeFacts(
            head=desk.head,
            to=to.name,
            sender=desk.sender,
            code=post.code,
            minutes=LIVES // MINUTE,
            until=post.until,
        )
    )


def list_signers(post: Post) -> tuple[SignerProgress, ...]:
    """Return all recipients who were to act, and when they did."""
    return tuple(
        SignerProgress(
            r.name, r.completed_at, post.recipient is not None and r.id == post.recipient.id, PARTS[r.role]
        )
        for r in post.document.recipients
        if r.acting
    )


LETTERS: Mapping[str, Callable[[LetterFacts], Letter]] = {
    "invitation": write_invitation,
    "reminder": write_reminder,
    "completed": write_completed,
    "declined": write_declined,
    "expired": write_expired,
    "renewal": write_renewal,
    "cancelled": write_cancelled,
    "corrected": write_corrected,
    "code": write_code,
}

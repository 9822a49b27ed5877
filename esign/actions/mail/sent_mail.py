"""Lists the e-mails of an organisation: recipient, text, the mail server's answer, and the time of the next attempt."""

from dataclasses import dataclass, replace

from esign.actions.mail import embedded_outbox, mail_archive, test_mode_mail
from esign.actions.mail.mail_archive import MailCopy
from esign.actions.mail.read_mail import read_mail
from esign.core.actor import Mode, Owner
from esign.core.errors import Problem
from esign.runtime import Runtime
from esign.store.engine.paging import PageStart
from esign.store.queue import sent_mail as posted
from esign.store.queue.outbox import Job
from esign.store.queue.sent_mail import OutboxMail

CODE = "code"  # the kind of letter that brings the code of a recipient


@dataclass(frozen=True, slots=True)
class SentMail:
    """One e-mail and its copy. Before the first attempt the copy holds only the kind of letter and the address."""

    posted: OutboxMail
    copy: MailCopy

    @property
    def was_kept(self) -> bool:
        """Return whether the e-mail was stored here and sent to nobody."""
        return self.posted.reply in (embedded_outbox.KEPT, test_mode_mail.CAPTURED)


async def find_page(
    runtime: Runtime, owner: Owner, limit: int, after: PageStart | None, undelivered: bool
) -> tuple[list[SentMail], PageStart | None]:
    """Return a page of e-mails, newest first, and the place where the next page begins, or None."""
    found = await posted.find_page(runtime.db, owner, limit + 1, after, undelivered)
    page = found[:limit]
    mails = [SentMail(one, await read_copy(runtime, one)) for one in page]
    return mails, page[-1].place if len(found) > limit else None


async def get(runtime: Runtime, owner: Owner, mail_id: int) -> SentMail:
    """Return one e-mail. Raises `not_found`."""
    found = await posted.get_own(runtime.db, owner, mail_id)
    return SentMail(found, await read_copy(runtime, found))


async def find_of_document(runtime: Runtime, document_id: str, limit: int) -> list[SentMail]:
    """Return the newest e-mails about a document, newest first. The caller has found the document as theirs."""
    found = await posted.find_of_document(runtime.db, document_id, limit)
    return [SentMail(one, await read_copy(runtime, one)) for one in found]


def may_be_opened(runtime: Runtime, owner: Owner, mail: SentMail) -> bool:
    """Return whether members who send documents may use what the e-mail contains.

    In test mode nothing has legal effect. Without a mail server they are the only ones who can bring a signing
    link to its recipient. A code proves that its reader has the mailbox, so it is never shown.
    """
    if mail.posted.document_id is None:
        return False
    return owner.mode is Mode.TEST or (runtime.config.mail.host is None and mail.copy.letter != CODE)


async def open_mail(runtime: Runtime, owner: Owner, mail: SentMail) -> SentMail:
    """Return the e-mail with its links if they may be used; otherwise as it is."""
    if owner.mode is Mode.TEST or not may_be_opened(runtime, owner, mail):
        return mail
    message = await embedded_outbox.find_message(runtime, mail.posted.key)
    if message is None:
        return mail
    return replace(mail, copy=replace(mail.copy, **mail_archive.read_words(message)))


async def read_copy(runtime: Runtime, mail: OutboxMail) -> MailCopy:
    """Return the copy of an e-mail. It is empty if nothing is left to make it from."""
    if mail.words is not None:
        return mail_archive.unseal_copy(runtime.vault, mail.key, mail.words)
    return await preview_copy(runtime, mail) or MailCopy("", "")


async def preview_copy(runtime: Runtime, mail: OutboxMail) -> MailCopy | None:
    """Return what an untried e-mail is about, or None if it was sent, or its document deleted, a moment ago."""
    if mail.body is None:
        return None
    job = Job(mail.id, "mail", mail.key, mail.document_id, mail.body, mail.attempts)
    try:
        return mail_archive.begin_copy(await read_mail(runtime, job))
    except Problem:
        return None

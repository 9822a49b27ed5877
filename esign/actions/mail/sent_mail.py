"""What an organisation mails: to whom, what it says, what the mail server answered, and when it is tried again."""

from dataclasses import dataclass

from esign.actions.mail import deliver_mail, embedded_outbox, mail_archive, notices, test_mail
from esign.actions.mail.mail_archive import Copy
from esign.core.actor import Owner
from esign.core.errors import Problem
from esign.runtime import Runtime
from esign.store.engine.paging import Place
from esign.store.queue import sent_mail as posted
from esign.store.queue.outbox import Job
from esign.store.queue.sent_mail import Posted


@dataclass(frozen=True, slots=True)
class Mail:
    """One mail and its copy; of one that was not tried yet the copy says only what it will be, and to whom."""

    posted: Posted
    copy: Copy

    @property
    def kept(self) -> bool:
        """Whether it was kept here and sent to nobody."""
        return self.posted.reply in (embedded_outbox.KEPT, test_mail.CAPTURED)


async def find_page(
    runtime: Runtime, owner: Owner, limit: int, after: Place | None, undelivered: bool
) -> tuple[list[Mail], Place | None]:
    """A page of mails, newest first, and where the next begins."""
    found = await posted.find_page(
        runtime.db, owner.organisation_id, owner.mode, limit + 1, after, undelivered
    )
    page = found[:limit]
    mails = [Mail(one, await copy(runtime, one)) for one in page]
    return mails, page[-1].place if len(found) > limit else None


async def get(runtime: Runtime, owner: Owner, mail_id: int) -> Mail:
    found = await posted.get_own(runtime.db, owner.organisation_id, owner.mode, mail_id)
    return Mail(found, await copy(runtime, found))


async def copy(runtime: Runtime, mail: Posted) -> Copy:
    if mail.words is not None:
        return mail_archive.unseal(runtime.vault, mail.key, mail.words)
    return await to_be(runtime, mail) or Copy("", "")


async def to_be(runtime: Runtime, mail: Posted) -> Copy | None:
    """What a mail that was not tried yet is about; None where it left, or its document went, a moment ago."""
    if mail.body is None:
        return None
    job = Job(mail.id, "mail", mail.key, mail.document_id, mail.body, mail.attempts)
    if job.document_id is None:
        notice = await notices.read(runtime, job)
        return Copy(notice.letter, notice.to.address)
    try:
        post = await deliver_mail.read(runtime, job)
    except Problem:
        return None
    to = deliver_mail.address(post)
    return Copy(post.letter, to.address if to else "")

"""Invitations that were kept here while no mail server was set: how many there are, and mailing them after all."""

from esign.actions.base import quota
from esign.actions.base.caller import Caller
from esign.actions.document.documents import change_own
from esign.actions.mail import mail_breaker
from esign.core.actor import Mode, Owner
from esign.core.document.document import Document
from esign.core.document.state.mail_again import mail_kept_invitations
from esign.core.document.state.outcome import Outcome
from esign.core.errors import Problem
from esign.runtime import Runtime
from esign.store.document import due_documents, outcomes

MOST = 500  # invitations that are mailed at once
PASSED = ("no_recipient_to_remind", "document_not_sent", "not_found", "revision_mismatch")


async def count(runtime: Runtime, owner: Owner) -> int:
    """Return how many kept invitations could be mailed now, `MOST` at most.

    In test mode there are none: there the settings decide what is mailed.
    """
    if owner.mode is Mode.TEST or await mail_breaker.find_outage(runtime, owner.mode, owner.organisation_id):
        return 0
    return len(await due_documents.find_kept_invitations(runtime.db, owner, MOST))


async def mail_all(runtime: Runtime, caller: Caller) -> int:
    """Mail every kept invitation of the organisation, `MOST` at most. Return how many.

    What has changed meanwhile is passed over. Raises `quota_exceeded` if nothing more may be mailed today.
    """
    if not await count(runtime, caller.owner):
        return 0
    found = await due_documents.find_kept_invitations(runtime.db, caller.owner, MOST)
    now, mailed = runtime.clock.now(), 0

    def decide(document: Document) -> Outcome:
        return mail_kept_invitations(document, caller.author, now)

    for document_id in dict.fromkeys(document_id for document_id, _ in found):
        await quota.check_mails(runtime, runtime.db, caller.owner.organisation_id)
        try:
            await change_own(runtime, caller, document_id, decide, outcomes.save)
        except Problem as problem:
            if problem.code not in PASSED:
                raise
        else:
            mailed += sum(one == document_id for one, _ in found)
    return mailed

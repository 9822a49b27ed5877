"""Issues signing links that the sender hands over in person (contract 3.2, link)."""

from dataclasses import dataclass

from esign.actions.base.caller import Caller
from esign.actions.document.documents import change_own
from esign.core.document.document import Document
from esign.core.document.state import Act, lifecycle, require
from esign.core.document.state.outcome import Event, Outcome
from esign.core.instant import HOUR, Instant, rfc3339
from esign.runtime import Runtime
from esign.store.document import outcomes, signing_links
from esign.store.engine.database import Transaction
from esign.system.entropy import make_token
from esign.system.vault import Vault


@dataclass(frozen=True, slots=True)
class IssuedLink:
    """A link for a recipient, and when it ends."""

    recipient_id: str
    url: str
    expires_at: Instant


async def issue_link(
    runtime: Runtime,
    caller: Caller,
    document_id: str,
    recipient_id: str,
    hours: int,
) -> IssuedLink:
    """Issue one more link. Earlier links stay valid. It ends with the document at the latest.

    Raises what `require` and `lifecycle.require_active` raise.
    """
    now, token = runtime.clock.now(), make_token()

    def decide(document: Document) -> Outcome:
        recipient = document.recipient(recipient_id)
        require(document, Act.LINK, now)
        lifecycle.require_active(document, recipient)
        data = {"expiresAt": rfc3339(ends_at(document))}
        event = Event("link.issued", now, caller.author.actor, recipient_id, caller.author.origin, data=data)
        return Outcome(document, (event,))

    def ends_at(document: Document) -> Instant:
        assert document.expires_at is not None
        return min(now + hours * HOUR, document.expires_at)

    async def save(
        tx: Transaction, outcome: Outcome, before: Document, vault: Vault, now: Instant
    ) -> IssuedLink:
        """Save the link and the event. The document itself does not change, so its revision stays."""
        await outcomes.record(tx, before.id, outcome.events, vault)
        link = signing_links.SigningLink(recipient_id, before.id, "sender")
        await signing_links.add(tx, token, link, now, ends_at(before))
        return IssuedLink(recipient_id, f"{runtime.config.server.base_url}/s/{token}", ends_at(before))

    return await change_own(runtime, caller, document_id, decide, save)

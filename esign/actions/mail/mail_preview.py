"""Previews the invitation of a draft with the code that writes the real one."""

import asyncio
from dataclasses import replace

from esign.actions.mail.document_letters import Post, write_letter
from esign.core.document.document import Document, Recipient
from esign.core.instant import DAY
from esign.mail.sheet import Letter
from esign.runtime import Runtime
from esign.store.people import organisations

NO_LINK = "…"  # the link does not exist before the document is sent


async def preview_invitation(runtime: Runtime, draft: Document, recipient: Recipient) -> Letter:
    """Return the invitation as it would be if the draft were sent now."""
    now = runtime.clock.now()
    organisation = await organisations.get(runtime.db, draft.organisation_id)
    sent = replace(draft, expires_at=now + draft.expires_in_days * DAY)
    post = Post(sent, organisation, "invitation", recipient, NO_LINK)
    base, days = runtime.config.server.base_url, runtime.config.limits.link_days
    return await asyncio.to_thread(write_letter, base, post, now, False, days)

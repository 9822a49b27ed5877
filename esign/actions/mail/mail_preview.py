"""Previews the invitation of a draft with the code that writes the real one."""

import asyncio
from dataclasses import replace

from esign.actions.base import logo_pictures
from esign.core.document.document import Document, Recipient
from esign.core.instant import DAY
from esign.mail.message import NamedMailbox
from esign.mail.outgoing_mail import DocumentMail
from esign.mail.sheet import Letter
from esign.mail.write_letter import write_letter
from esign.runtime import Runtime
from esign.store.people import organisations

NO_LINK = "/s/…"  # the link does not exist before the document is sent


async def preview_invitation(runtime: Runtime, draft: Document, recipient: Recipient) -> Letter:
    """Return the invitation as it would be if the draft were sent now."""
    now = runtime.clock.now()
    organisation = await organisations.get(runtime.db, draft.organisation_id)
    mail = DocumentMail(
        letter="invitation",
        organisation=organisation,
        mode=draft.mode,
        to=NamedMailbox(recipient.email, recipient.name),
        link=f"{runtime.config.server.base_url}{NO_LINK}",
        document=replace(draft, expires_at=now + draft.expires_in_days * DAY),
        recipient=recipient,
        now=now,
        link_days=runtime.config.limits.link_days,
        logo=await logo_pictures.make_inline_logo(runtime.db, organisation),
    )
    return await asyncio.to_thread(write_letter, mail)

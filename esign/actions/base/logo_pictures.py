"""The logo of an organisation as pages, mails and certificate pages show it."""

import base64
from typing import Any

from esign.core.people.account import Organisation
from esign.mail.sheet import Inline
from esign.store.engine.database import Reader
from esign.store.people import logos


async def png(reader: Reader, organisation: Organisation) -> bytes | None:
    """What it looks like; None where there is none, or another one by now."""
    return await logos.get(reader, organisation.logo.sha256) if organisation.logo else None


async def mailed(reader: Reader, organisation: Organisation) -> Inline | None:
    """As a letter brings it along."""
    content, logo = await png(reader, organisation), organisation.logo
    if logo is None or content is None:
        return None
    return Inline(f"logo.{logo.sha256[:32]}@esign", content, logo.width, logo.height)


async def printed(reader: Reader, organisation: Organisation) -> dict[str, Any] | None:
    """As the certificate page takes it."""
    content, logo = await png(reader, organisation), organisation.logo
    if logo is None or content is None:
        return None
    encoded = base64.b64encode(content).decode()
    return {"type": "png", "width": logo.width, "height": logo.height, "base64": encoded}

"""Provides the logo of an organisation in the forms that pages, e-mails and certificate pages need."""

import base64

from esign.core.people.account import Organisation
from esign.mail.sheet import InlinePicture
from esign.store.engine.database import Reader
from esign.store.people import logos


async def find_png(reader: Reader, organisation: Organisation) -> bytes | None:
    """Return the logo as PNG, or None if the organisation has none or has replaced it meanwhile."""
    return await logos.get(reader, organisation.logo.sha256) if organisation.logo else None


async def make_inline_logo(reader: Reader, organisation: Organisation) -> InlinePicture | None:
    """Return the logo as an inline picture of an e-mail, or None."""
    content, logo = await find_png(reader, organisation), organisation.logo
    if logo is None or content is None:
        return None
    return InlinePicture(f"logo.{logo.sha256[:32]}@esign", content, logo.width, logo.height)


async def make_page_logo(reader: Reader, organisation: Organisation) -> dict[str, object] | None:
    """Return the logo as the template of the certificate page reads it, or None."""
    content, logo = await find_png(reader, organisation), organisation.logo
    if logo is None or content is None:
        return None
    encoded = base64.b64encode(content).decode()
    return {"type": "png", "width": logo.width, "height": logo.height, "base64": encoded}

"""The application key is exchanged while a request is carried out."""

import base64
import dataclasses

import pytest

from esign.actions.base import stored_codes
from esign.actions.base.caller import Caller
from esign.actions.document import documents
from esign.actions.document.documents import DocumentOrder
from esign.actions.document.holder_entries import HolderEntry
from esign.core.actor import COMMAND, Mode, Owner
from esign.store.people import organisations
from esign.system.vault import Vault
from tests.api.site import Site, b64
from tests.pdf.made import blank, write_pdf

pytestmark = pytest.mark.asyncio(loop_scope="module")

NEXT = b"n" * 32


async def test_an_access_code_is_kept_by_the_key_that_was_adopted_during_the_upload(site: Site) -> None:
    runtime = site.runtime
    organisation = await organisations.find_first(runtime.db)
    assert organisation is not None
    caller = Caller(Owner(organisation.id, Mode.TEST), COMMAND)

    async def upload() -> bytes:
        runtime.vault.adopt_key(NEXT)
        return base64.b64decode(b64(write_pdf(blank(1))))

    members = {"name": "A", "email": "a@example.test", "authentication": "access_code", "access_code": "1234"}
    order = DocumentOrder(
        "a.pdf",
        upload,
        recipients=(HolderEntry(members), HolderEntry({**members, "email": "b@example.test"})),
    )
    created = await documents.create(runtime, caller, order)
    stored = await documents.get(runtime, caller.owner, created.id)
    assert len({each.access_code for each in stored.recipients}) == 2
    for each in stored.recipients:
        assert each.access_code is not None
        assert stored_codes.is_access_code(Vault(NEXT), each.access_code, "1234")
    assert dataclasses.replace(stored, revision=created.revision) == created

"""Decides who looks after the server, on which all of its organisations depend."""

from esign.core.people.account import Organisation
from esign.store.engine.database import Reader
from esign.store.people import organisations


async def may_change_server(reader: Reader, organisation: Organisation) -> bool:
    """Return whether the owners of this organisation may change what belongs to the server.

    Only those of the organisation that was set up first may.
    """
    first = await organisations.find_first(reader)
    return first is not None and first.id == organisation.id

"""Erases what is kept of a person, once somebody has asked for it."""

from esign.actions import erasing
from esign.runtime import Runtime
from esign.store import erasings


async def tick(runtime: Runtime) -> int:
    """The number of documents that went."""
    count = 0
    while asked := await erasings.next_one(runtime.db, runtime.vault):
        count += await erasing.carry_out(runtime, asked)
    return count

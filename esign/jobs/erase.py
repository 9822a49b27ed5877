"""Erases what is kept of a person, once somebody has asked for it."""

from esign.actions.people import erase_person
from esign.runtime import Runtime
from esign.store.people import erasings


async def tick(runtime: Runtime) -> int:
    """The number of documents that went; a request that fails is tried again, and holds up no other."""
    count, failures = 0, list[Exception]()
    for asked in await erasings.unfinished(runtime.db, runtime.vault):
        try:
            count += await erase_person.carry_out(runtime, asked)
        except Exception as failure:
            failures.append(failure)
    if failures:
        raise ExceptionGroup("not everybody who asked for it is erased", failures)
    return count

"""Carries out the requested erasures of personal data."""

from esign.actions.people import erase_person
from esign.runtime import Runtime
from esign.store.people import erasings


async def tick(runtime: Runtime) -> int:
    """Work off the open erasure requests and return the number of deleted documents.

    A request that fails is tried again with the next tick and does not hold up the others. Raises
    ExceptionGroup of the failures after all requests were tried.
    """
    count, failures = 0, list[Exception]()
    for asked in await erasings.find_unfinished(runtime.db, runtime.vault):
        try:
            count += await erase_person.carry_out(runtime, asked)
        except Exception as failure:
            failures.append(failure)
    if failures:
        raise ExceptionGroup("not everybody who asked for it is erased", failures)
    return count

"""Works off due rows one by one. A row that fails is set aside, so that it does not hold up the rows behind it."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from esign.core.errors import Problem
from esign.runtime import Runtime
from esign.store.engine.failures import is_passing
from esign.system.supervision import beat

T = TypeVar("T", bound=str | tuple[str, str])

Act = Callable[[T], Awaitable[object]]


async def work_off(
    runtime: Runtime, table: str, find: Callable[[int], Awaitable[Sequence[T]]], act: Act[T], batch: int
) -> int:
    """Act on what `find` returns, up to `batch` at a time, until it returns nothing new. Return how many were tried.

    Raises the errors that concern all rows: a full disk, a lock, the end of the program.
    """
    aside, count = set[T](), 0
    while found := [each for each in await find(batch + len(aside)) if each not in aside]:
        aside |= await act_on(runtime, table, found, act)
        count += len(found)
    return count


async def act_on(runtime: Runtime, table: str, found: Iterable[T], act: Act[T]) -> set[T]:
    """Act on each row and return those that failed. They are noted as damaged until the act succeeds.

    Raises the errors that concern all rows, as `work_off` does.
    """
    failed = set[T]()
    for each in found:
        key = each if isinstance(each, str) else each[0]
        beat()
        try:
            await act(each)
        except Exception as error:
            if is_passing(error) or (isinstance(error, Problem) and error.code == "unavailable"):
                raise
            runtime.db.damage.note(table, key, error)
            failed.add(each)
        else:
            runtime.db.damage.forget(table, key)
    return failed

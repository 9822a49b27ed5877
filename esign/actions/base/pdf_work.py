"""Waits for results of the PDF workers on behalf of a caller."""

from collections.abc import Awaitable
from typing import TypeVar

from esign.core.errors import Problem
from esign.pdf.worker.workers import WorkerFailed

T = TypeVar("T")


async def wait_for_worker(making: Awaitable[T]) -> T:
    """Return the result of a worker. Raises `unavailable` if the worker fails."""
    try:
        return await making
    except WorkerFailed as failure:
        raise Problem("unavailable") from failure

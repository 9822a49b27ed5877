"""What the PDF workers are asked while somebody waits for it."""

from collections.abc import Awaitable
from typing import TypeVar

from esign.core.errors import Problem
from esign.pdf.worker.workers import WorkerFailed

T = TypeVar("T")


async def made(making: Awaitable[T]) -> T:
    """What a worker makes; `unavailable` when it cannot."""
    try:
        return await making
    except WorkerFailed as failure:
        raise Problem("unavailable") from failure

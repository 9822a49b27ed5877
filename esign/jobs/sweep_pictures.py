"""Removes pictures of pages whose document is gone, as after a crash, and the oldest if there are too many."""

from esign.actions.document import page_cache
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Remove what is left over, and return the number of shelves removed."""
    return await page_cache.sweep(runtime)

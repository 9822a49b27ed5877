"""Draws the first pages of new files while the PDF workers have nothing else to do, so that readers need not wait."""

from esign.actions.document import page_cache
from esign.core.errors import Problem
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Draw for each new file what there is time for, the newest first, and return the number of files."""
    count = 0
    while runtime.new_files:
        organisation_id, file = runtime.new_files.pop()
        try:
            await page_cache.draw_ahead(runtime, organisation_id, file)
        except Problem:  # the reader is told when they ask for the page
            continue
        count += 1
    return count

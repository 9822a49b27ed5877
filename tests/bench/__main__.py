"""`python -m tests.bench [NAME …]`: measures what the issues give figures for; medians of interleaved rounds.

Prints a table. Machines are noisy: compare ratios of one run, not times of two.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable

from tests.bench import api, journey, start

BENCHES: dict[str, Callable[[], Awaitable[None]]] = {
    "start": start.run,
    "get": api.get,
    "create": api.create,
    "journey": journey.run,
}


async def main(names: list[str]) -> None:
    for name in names or BENCHES:
        print(f"\n== {name}")
        await BENCHES[name]()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))

"""`python -m tests.bench [NAME …]`: measures what the issues give figures for; medians of interleaved rounds.

Prints a table. Machines are noisy: compare ratios of one run, not times of two.
"""

import sys
from collections.abc import Awaitable, Callable

import uvloop

from tests.bench import api, auth, crowd, journey, mail, page, scale, sealing, start, storm

BENCHES: dict[str, Callable[[], Awaitable[None]]] = {
    "start": start.run,
    "get": api.get,
    "auth": auth.run,
    "create": api.create,
    "crowd": crowd.run,
    "journey": journey.run,
    "mail": mail.run,
    "page": page.run,
    "scale": scale.run,
    "sealing": sealing.run,
    "storm": storm.run,
}


async def main(names: list[str]) -> None:
    if unknown := set(names) - set(BENCHES):
        sys.exit(f"No bench is called {', '.join(sorted(unknown))}. There are: {', '.join(BENCHES)}.")
    for name in names or BENCHES:
        print(f"\n== {name}")
        await BENCHES[name]()


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1:]))

"""`python -m tests.bench NAME [ROW …]`: measures what the issues give figures for.

Machines are noisy: compare ratios of one run, not times of two.
"""

import sys
from collections.abc import Awaitable, Callable

import uvloop

from tests.bench import (
    auth,
    backup,
    crowd,
    doctor,
    door,
    durability,
    growth,
    increments,
    mail,
    page,
    scale,
    sealing,
    start,
    storm,
)

TABLES: dict[str, Callable[[list[str]], Awaitable[None]]] = {
    "backup": backup.run,
    "doctor": doctor.run,
    "door": door.run,
    "growth": growth.run,
    "increments": increments.run,
}
BENCHES: dict[str, Callable[[], Awaitable[None]]] = {
    "start": start.run,
    "auth": auth.run,
    "crowd": crowd.run,
    "durability": durability.run,
    "mail": mail.run,
    "page": page.run,
    "scale": scale.run,
    "sealing": sealing.run,
    "storm": storm.run,
}


async def main(names: list[str]) -> None:
    name, *rows = names or [""]
    if name in TABLES:
        await TABLES[name](rows)
    elif name in BENCHES and not rows:
        await BENCHES[name]()
    else:
        sys.exit(describe_benches())


def describe_benches() -> str:
    """Return what can be asked for."""
    return (
        "python -m tests.bench NAME\n"
        f"backup [COUNT]: esign backup and restore of {doctor.COUNT:,} documents, beside creations\n"
        f"doctor [COUNT]: esign doctor over {doctor.COUNT:,} documents, beside writes\n"
        f"door [ROW …]: the table of docs/speed.md, of all rows or of {', '.join(door.ROWS)}\n"
        f"growth [FEW MANY]: the same work beside {growth.SIZES[0]:,} and {growth.SIZES[1]:,} documents\n"
        f"increments [COUNT]: increments of {increments.COUNT:,} documents, beside creations\n"
        f"or one of {', '.join(BENCHES)}"
    )


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1:]))

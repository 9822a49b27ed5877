"""`python -m tests.reliability [NAME [--NUMBER N …]]`: measures what docs/reliability.md gives figures for.

Without a name all of them, each in its full size; a name may be followed by numbers that make it smaller. `bodies`
and `litestream` say with --help what they do.
"""

import sys
from collections.abc import Callable, Sequence

import click
import uvloop

from tests.reliability import (
    audit_tampering,
    backups,
    bodies,
    browser_security,
    clock_steps,
    downtime,
    exchange_kills,
    forbidden_addresses,
    full_disk,
    guesses,
    io_faults,
    kills,
    link_scanners,
    litestream,
    mail_outage,
    power_cuts,
    races,
    same_request,
    seal_outages,
    slow_clients,
    soak,
    stops,
    upgrades,
    webhooks,
    workers,
)
from tests.reliability.figures import Run

FIGURES: dict[str, Run] = {
    "audit": audit_tampering.run,
    "kills": kills.run,
    "power_cuts": power_cuts.run,
    "io_faults": io_faults.run,
    "full_disk": full_disk.run,
    "slow_clients": slow_clients.run,
    "soak": soak.run,
    "workers": workers.run,
    "seal_outages": seal_outages.run,
    "stops": stops.run,
    "races": races.run,
    "browser_security": browser_security.run,
    "guesses": guesses.run,
    "link_scanners": link_scanners.run,
    "forbidden_addresses": forbidden_addresses.run,
    "clock_steps": clock_steps.run,
    "downtime": downtime.run,
    "mail_outage": mail_outage.run,
    "same_request": same_request.run,
    "webhooks": webhooks.run,
    "exchange_kills": exchange_kills.run,
    "upgrades": upgrades.run,
    "backups": backups.run,
}
# Each with options of its own; it prints what it found.
CHECKS: dict[str, Callable[[Sequence[str]], int]] = {"bodies": bodies.main, "litestream": litestream.main}


async def measure(names: Sequence[str], numbers: Sequence[str]) -> bool:
    """Print a line for each figure as it comes; return whether all held."""
    held = True
    print("| T | Target | Measured | Command | Date |\n|---|---|---|---|---|", flush=True)
    for name in names:
        figure = await FIGURES[name](numbers)
        held = held and figure.held
        print(figure.describe(), flush=True)
    return held


def main(given: Sequence[str]) -> int:
    """Return the exit code: 0 if all figures held, 1 if one did not, 2 for a wrong command line."""
    if given and given[0] in CHECKS:
        return CHECKS[given[0]](given[1:])
    names = [word for word in given if word in FIGURES]
    numbers = given[len(names) :]
    if list(given[: len(names)]) != names or (numbers and len(names) != 1):
        print(f"python -m tests.reliability NAME [--NUMBER N …], or several of: {', '.join(FIGURES)}")
        return 2
    try:
        return 0 if uvloop.run(measure(names or list(FIGURES), numbers)) else 1
    except click.UsageError as error:
        print(error.format_message())
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

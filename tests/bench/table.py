"""Rows of a table of figures: what is measured, what it must reach, and how it is printed."""

import os
import platform
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version

from tests.bench.drive import find_wrk


@dataclass(frozen=True, slots=True)
class Figure:
    """What a row measured, and whether it reaches its target; `note` says more on standard error."""

    text: str
    reached: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table; `before` are the cells between its name and its figure."""

    work: str
    target: str
    measure: Callable[[], Awaitable[Figure]]
    before: tuple[str, ...] = ()


async def print_table(rows: Mapping[str, Row], names: list[str], before: tuple[str, ...] = ()) -> None:
    """Measure the named rows, or all of them, and print each as Markdown as soon as it is there."""
    if unknown := set(names) - set(rows):
        sys.exit(f"No row is called {', '.join(sorted(unknown))}. There are: {', '.join(rows)}.")
    print(describe_machine())
    print(f"\n| Work | {''.join(f'{head} | ' for head in before)}esign | Target |")
    print(f"|---|{'--:|' * (len(before) + 2)}", flush=True)
    for name in names or rows:
        began = time.perf_counter()
        row = rows[name]
        figure = await row.measure()
        missed = "" if figure.reached else " MISSED"
        print(
            f"| {row.work} | {''.join(f'{cell} | ' for cell in row.before)}{figure.text} | {row.target}{missed} |"
        )
        sys.stdout.flush()
        print(f"  {name}: {time.perf_counter() - began:.0f} s. {figure.note}", file=sys.stderr, flush=True)


def describe_machine() -> str:
    """Return date, versions and size of the machine, as they stand above a table."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    said = subprocess.run([find_wrk(), "-v"], capture_output=True, text=True, check=False).stdout
    wrk = re.search(r"\d+\.\d+\.\d+", said)
    return (
        f"{time.strftime('%Y-%m-%d', time.gmtime())}; {len(os.sched_getaffinity(0))} cores, "
        f"{round(memory / 2**30)} GiB; Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"uvicorn {version('uvicorn')}, wrk {wrk[0] if wrk else '?'}."
    )

"""The table of docs/speed.md: `python -m tests.bench door [ROW …]` measures from outside and prints it as Markdown.

Each row installs a program of its own. The figures of Documenso were measured by others, on another run.
"""

from functools import partial

from tests.bench.creating import measure_alone, measure_rate
from tests.bench.finishing import measure_seal, measure_seals
from tests.bench.footprint import measure_idle_memory, measure_loaded_memory, measure_packages
from tests.bench.large import measure_large
from tests.bench.reading import (
    measure_document,
    measure_health,
    measure_list,
    measure_office_list,
    measure_signing_page,
)
from tests.bench.showing import measure_crowd, measure_first_page
from tests.bench.start import measure_start
from tests.bench.table import Row, print_table

BEFORE = ("Documenso 2.17",)
NONE = ("–",)
ROWS = {
    "create-2": Row(
        "create, 2 dense pages, 2 recipients, 6 fields: p50 alone",
        "≤ 12 ms",
        partial(measure_alone, 2, 12),
        ("61–64 ms",),
    ),
    "create-2-rate": Row("the same, 8 clients", "≥ 200/s", partial(measure_rate, 2, 200), ("20/s",)),
    "create-20": Row(
        "create, 20 dense pages: p50 alone", "≤ 40 ms", partial(measure_alone, 20, 40), ("251 ms",)
    ),
    "create-20-rate": Row("the same, 8 clients", "≥ 50/s", partial(measure_rate, 20, 50), ("3.7/s",)),
    "get": Row(
        "GET document, 8 connections", "≥ 1/5 of the bare hello", partial(measure_document, 5), ("93/s",)
    ),
    "list-10": Row("list of 10", "≥ 1/12", partial(measure_list, 10, 12), ("79/s",)),
    "list-100": Row("list of 100", "≥ 1/60", partial(measure_list, 100, 60), ("27/s",)),
    "healthz": Row("`/healthz`", "≥ 1/2.5", partial(measure_health, 2.5), ("425/s",)),
    "seal": Row(
        "last act → `completed`, 2 pages, idle server", "≤ 70 ms", partial(measure_seal, 70), ("233 ms",)
    ),
    "seals": Row(
        "sealed per second, 96 last acts at 8 clients, until all are completed",
        "≥ 25",
        partial(measure_seals, 25),
        ("4.6",),
    ),
    "start": Row("start to first 200, 1,000 documents", "≤ 0.6 s", partial(measure_start, 0.6), ("3.0 s",)),
    "memory-idle": Row(
        "memory (PSS): server and signer idle", "≤ 100 MB", partial(measure_idle_memory, 100), ("373 MB",)
    ),
    "memory-load": Row(
        "memory (PSS): server and workers after load",
        "≤ 200 MB",
        partial(measure_loaded_memory, 200),
        ("997 MB",),
    ),
    "packages": Row("packages on disk", "≤ 200 MB", partial(measure_packages, 200), ("1,171 MB",)),
    "office-list": Row("the office's list page, 25 rows", "≤ 6 ms", partial(measure_office_list, 6), NONE),
    "signing-page": Row("the signing page", "≤ 8 ms", partial(measure_signing_page, 8), NONE),
    "first-page": Row(
        "first page of a document just created", "≤ 60 ms", partial(measure_first_page, 60), NONE
    ),
    "crowd": Row(
        "100 pages that 10 recipients open at once", "drawn once (≤ 1.2)", partial(measure_crowd, 1.2), NONE
    ),
    "large": Row(
        "GET and server memory while 4 clients upload 25 MB scans and 500 pages",
        "p99 ≤ 30 ms, ≤ 300 MB",
        partial(measure_large, 30, 300),
        NONE,
    ),
}


async def run(names: list[str]) -> None:
    await print_table(ROWS, names, BEFORE)

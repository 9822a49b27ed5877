"""Lists, search and ticks over a thousand to a million documents: what must not grow, measured side by side.

Each round asks every size the same question before the next question, so a noisy moment hits all sizes alike. The
figures go to docs/scale.md and its picture.
"""

import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from esign.app import open_runtime
from esign.config import Config, ServerSettings, StorageSettings
from esign.core.actor import Mode, Owner
from esign.core.document.document import Status
from esign.core.document.document_filters import DocumentFilters, Sort, Span
from esign.core.instant import DAY, Instant
from esign.jobs import schedule
from esign.store.document import listing
from esign.store.engine.connections import FILE, open_database
from esign.store.engine.database import Database
from esign.store.engine.paging import PageStart
from tests.bench import grown, office, picture
from tests.factories import NOW, ORGANISATION
from tests.fakes import FakeClock

SIZES = (1_000, 10_000, 100_000, 1_000_000)
ROUNDS = 11
REPEATS = 7
PAGE = 25
RATIO, SEARCH_MS, TICK_MS = 1.5, 300.0, 5.0
DOCS = Path(__file__).parents[2] / "docs"
MIDDLE: Instant = (grown.START + NOW) // 2
MONTH = Span(MIDDLE, MIDDLE + 60 * DAY)

STAFF = "recipientEmail, one document in 20"
PAGES: dict[str, DocumentFilters] = {
    "newest first": DocumentFilters(),
    "oldest first": DocumentFilters(sort=Sort.OLDEST),
    "last changed first": DocumentFilters(sort=Sort.LAST_CHANGED),
    "first changed first": DocumentFilters(sort=Sort.FIRST_CHANGED),
    "status=draft": DocumentFilters(statuses=frozenset({Status.DRAFT})),
    "status=sent,completed,declined": DocumentFilters(
        statuses=frozenset({Status.SENT, Status.COMPLETED, Status.DECLINED})
    ),
    "status=expired, last changed first": DocumentFilters(
        statuses=frozenset({Status.EXPIRED}), sort=Sort.LAST_CHANGED
    ),
    STAFF: DocumentFilters(recipient_email="Staff7@northlight.example"),
    "externalId": DocumentFilters(external_id="order-0000500"),
    "templateId, one document in 20": DocumentFilters(template_id="tpl_7"),
    "createdAfter and createdBefore, in the middle": DocumentFilters(created=MONTH),
    "updatedAfter, in the middle": DocumentFilters(updated=Span(after=MIDDLE)),
    "updatedBefore, in the middle": DocumentFilters(updated=Span(before=MIDDLE)),
    "completedAfter, in the middle": DocumentFilters(completed=Span(after=MIDDLE)),
    "completedBefore, in the middle": DocumentFilters(completed=Span(before=MIDDLE)),
}
COMBINED: dict[str, DocumentFilters] = {
    "q everywhere": DocumentFilters(q="customer"),
    "recipientEmail, last changed first": DocumentFilters(
        recipient_email="staff7@northlight.example", sort=Sort.LAST_CHANGED
    ),
    "templateId, last changed first": DocumentFilters(template_id="tpl_7", sort=Sort.LAST_CHANGED),
    "status=completed and completedAfter": DocumentFilters(
        statuses=frozenset({Status.COMPLETED}), completed=Span(after=MIDDLE)
    ),
    "status=declined, recipientEmail and templateId": DocumentFilters(
        statuses=frozenset({Status.DECLINED}),
        recipient_email="staff7@northlight.example",
        template_id="tpl_7",
    ),
    "q everywhere and status=draft": DocumentFilters(statuses=frozenset({Status.DRAFT}), q="customer"),
    "q everywhere, last changed first": DocumentFilters(q="customer", sort=Sort.LAST_CHANGED),
    "q only in the oldest tenth, last changed first": DocumentFilters(q=grown.OLD, sort=Sort.LAST_CHANGED),
    "q only in the oldest tenth and status=sent: none": DocumentFilters(
        statuses=frozenset({Status.SENT}), q=grown.OLD
    ),
    "completedAfter in the middle, oldest first": DocumentFilters(
        completed=Span(after=MIDDLE), sort=Sort.OLDEST
    ),
    "createdBefore in the middle, last changed first": DocumentFilters(
        created=Span(before=MIDDLE), sort=Sort.LAST_CHANGED
    ),
    "recipientEmail of two who never met: none": DocumentFilters(
        q="staff3", recipient_email="staff7@northlight.example"
    ),
}
WORDS: dict[str, list[str]] = {
    "a word of one document": [grown.RARE, "order-0000123", "c7@customer7.example", "altbestand quetz"],
    "a word of every document": ["customer", "northlight", "example", "offer.pdf", "order-", "staff"],
    "a word of the oldest tenth": [grown.OLD],
    "a frequent name": ["Giorgos", "ΣΟΦΊΑ", "дмитро", "花子", "فاطمة", "marber", "Kov"],
    "letters of many, a word of none": ["customerstaff", "markovmarkov", "lightnorth", "kovmar terlan zzz"],
    "two letters": ["ma", "ko", "ор", "zz", "契約", "7@", "qz", "q "],
    "one letter": ["e", "a", "z", "7", "о", "契", "花", "@", "ж", "ß"],
}


@dataclass(frozen=True, slots=True)
class ScaleRow:
    """Seconds for each size, of every round."""

    name: str
    times: dict[int, list[float]] = field(default_factory=dict)

    def median(self, size: int) -> float:
        return statistics.median(self.times[size])

    @property
    def ratio(self) -> float:
        return self.median(max(self.times)) / self.median(min(self.times))

    def p95(self, size: int) -> float:
        found = sorted(self.times[size])
        return found[min(len(found) - 1, int(0.95 * len(found)))]


async def time_shortest(ask: Callable[[], Awaitable[object]]) -> float:
    """The shortest of a few, so that what else the machine does counts less."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        await ask()
        times.append(time.perf_counter() - began)
    return min(times)


async def page(db: Database, asked: DocumentFilters, after: PageStart | None = None) -> object:
    return await listing.find_page(db, Owner(ORGANISATION, Mode.LIVE), PAGE + 1, after, asked)


async def deepest(db: Database, asked: DocumentFilters) -> PageStart:
    """The cursor behind which one page is left."""
    turned = {
        Sort.NEWEST: Sort.OLDEST,
        Sort.OLDEST: Sort.NEWEST,
        Sort.LAST_CHANGED: Sort.FIRST_CHANGED,
        Sort.FIRST_CHANGED: Sort.LAST_CHANGED,
    }
    back = replace(asked, sort=turned[asked.sort])
    last = await listing.find_page(db, Owner(ORGANISATION, Mode.LIVE), PAGE + 2, None, back)
    return listing.find_place(last[-1], asked)


async def pages(
    bases: dict[int, Database], asked: dict[str, DocumentFilters], deep: Iterable[str] = ()
) -> list[ScaleRow]:
    rows = [ScaleRow(name) for name in asked] + [ScaleRow(f"{name}, deepest cursor") for name in deep]
    places = {(name, size): await deepest(db, asked[name]) for name in deep for size, db in bases.items()}
    for _ in range(ROUNDS + 1):  # the first warms up
        for row in rows:
            name = row.name.removesuffix(", deepest cursor")
            for size, db in bases.items():
                after = places[name, size] if name != row.name else None

                async def ask(db: Database = db, name: str = name, after: PageStart | None = after) -> object:
                    return await page(db, asked[name], after)

                row.times.setdefault(size, []).append(await time_shortest(ask))
    return [ScaleRow(row.name, {size: times[1:] for size, times in row.times.items()}) for row in rows]


async def searches(bases: dict[int, Database]) -> list[ScaleRow]:
    rows = []
    for name, words in WORDS.items():
        row = ScaleRow(name)
        for _ in range(ROUNDS):
            for word in words:
                for size, db in bases.items():
                    began = time.perf_counter()
                    await page(db, DocumentFilters(q=word))
                    row.times.setdefault(size, []).append(time.perf_counter() - began)
        rows.append(row)
    return rows


async def office_pages(folders: dict[int, Path]) -> list[ScaleRow]:
    """The list of documents as people see it, from the request to the last byte of the page."""
    rows = [ScaleRow(name) for name in office.PAGES]
    async with AsyncExitStack() as stack:
        asking = {size: await stack.enter_async_context(office.browser(at)) for size, at in folders.items()}
        for _ in range(ROUNDS + 1):  # the first warms up
            for row in rows:
                for size, ask in asking.items():
                    took = await time_shortest(partial(ask, office.PAGES[row.name]))
                    row.times.setdefault(size, []).append(took)
    return [ScaleRow(row.name, {size: times[1:] for size, times in row.times.items()}) for row in rows]


async def ticks(folders: dict[int, Path]) -> list[ScaleRow]:
    """Every tick of the clock, after whatever was due has been done."""
    rows = {each.name: ScaleRow(each.name) for each in schedule.TICKS}
    for size, folder in folders.items():
        config = Config(
            server=ServerSettings(base_url="http://localhost"), storage=StorageSettings(data_dir=folder)
        )
        async with open_runtime(config, FakeClock()) as runtime:
            for each in schedule.TICKS:
                await each.tick(runtime)
                times = rows[each.name].times.setdefault(size, [])
                for _ in range(ROUNDS):
                    began = time.perf_counter()
                    await each.tick(runtime)
                    times.append(time.perf_counter() - began)
    return [*rows.values()]


async def run() -> None:
    folders = {}
    for size in SIZES:
        began = time.perf_counter()
        folders[size] = await grown.database(size)
        print(f"{size:>9,} documents ready after {time.perf_counter() - began:.0f} s", file=sys.stderr)
    idle = await ticks(folders)
    seen = await office_pages(folders)
    bases = {size: await open_database(folder / FILE) for size, folder in folders.items()}
    try:
        deep = ["newest first", "oldest first", "last changed first", "status=draft", STAFF]
        lists = await pages(bases, PAGES, deep)
        combined = await pages(bases, COMBINED, ["q everywhere"])
        found = await searches(bases)
    finally:
        for db in bases.values():
            await db.close()
    write(lists, found, combined, idle, seen)
    judge([*lists, *seen], found, idle)


# ---------- what is written ----------


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.2f}" if seconds < 0.1 else f"{1000 * seconds:.0f}"


def table(rows: list[ScaleRow], value: Callable[[ScaleRow, int], float], ratio: bool = False) -> str:
    """Milliseconds of each row by size; with `ratio` how much the largest takes of the smallest."""
    heads = [f"{size:,}" for size in SIZES] + (["ratio"] if ratio else [])
    lines = [f"| | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for row in rows:
        cells = [milliseconds(value(row, size)) for size in SIZES] + ([f"{row.ratio:.2f}"] if ratio else [])
        lines.append(f"| {row.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write(
    lists: list[ScaleRow],
    found: list[ScaleRow],
    combined: list[ScaleRow],
    idle: list[ScaleRow],
    seen: list[ScaleRow],
) -> None:
    """The tables into docs/scale.md, each between its marks, and the picture beside them."""
    tables = {
        "pages": table(lists, ScaleRow.median, ratio=True),
        "search": table(found, ScaleRow.p95),
        "combined": table(combined, ScaleRow.median),
        "ticks": table(idle, ScaleRow.median),
        "office": table(seen, ScaleRow.median, ratio=True),
    }
    page = DOCS / "scale.md"
    text = page.read_text("utf-8")
    for name, made in tables.items():
        print(f"\n{made}")
        before, begin, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- end of {name} -->")
        text = f"{before}{begin}{made}\n{end}{after}"
    page.write_text(text, "utf-8")
    picked = {row.name: row for row in [*lists, *found]}
    curves = {
        "a page, newest first": picked["newest first"].median,
        "a page at the deepest cursor": picked["newest first, deepest cursor"].median,
        "a page of one recipient": picked[STAFF].median,
        "q: a word of every document (p95)": picked["a word of every document"].p95,
        "q: a word of one document (p95)": picked["a word of one document"].p95,
        "q: one letter (p95)": picked["one letter"].p95,
    }
    title = "Milliseconds for a page of 25, by the number of documents"
    drawn = {name: {size: 1000 * of(size) for size in SIZES} for name, of in curves.items()}
    picture.draw(DOCS / "images" / "scale.svg", title, drawn)


def judge(lists: list[ScaleRow], found: list[ScaleRow], idle: list[ScaleRow]) -> None:
    """Say what is over the figures of the issue."""
    largest = max(SIZES)
    over = [f"{row.name}: {row.ratio:.2f} times" for row in lists if row.ratio > RATIO]
    over += [
        f"{row.name}: {milliseconds(row.p95(largest))} ms"
        for row in found
        if 1000 * row.p95(largest) > SEARCH_MS
    ]
    total = 1000 * sum(row.median(largest) for row in idle)
    over += [f"the ticks: {total:.1f} ms"] if total > TICK_MS else []
    print("\nover: " + "; ".join(over) if over else "\nnothing is over its figure")

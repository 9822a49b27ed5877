"""Seals beside other sealers, the whole way of a document through a worker, and the memory of both processes.

The files are made here, of noise that does not compress. The other sealers append one signature to given bytes, and
that step is compared; the whole way is what a document goes through: values drawn, certificate page, trail, two seals,
and every check before the file leaves the worker.
"""

import asyncio
import io
import random
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pikepdf
from pikepdf import Dictionary, Name, Stream

from esign.config import RemoteAddress
from esign.core.seal_credential import Credential
from esign.net import DirectClient
from esign.pdf.report import VerificationCase
from esign.pdf.seal_order import SealedFiles, SealOrder
from esign.pdf.verify.validate import verify_signatures
from esign.pdf.worker.workers import Workers
from esign.tsa import TimeStampClient
from tests.bench import sealers, serving
from tests.bench.sealers import Sealer
from tests.fakes import FakeClock
from tests.pdf.others import stamp_as_others
from tests.pdf.sealing import a_trail, every_type, make_seal_order
from tests.pki import NOW, Issued, a_seal, an_authority
from tests.tsa import stamping

SIZES = {
    "1 page, 60 kB": (1, 60_000),
    "10 pages, 1.3 MB": (10, 1_300_000),
    "100 pages, 13 MB": (100, 13_000_000),
}
WARM, ROUNDS = 15, 21
TOGETHER, BATCHES = 30, 9
MOST_MS = (60, None, 400)
ROOT = an_authority("Bench", "rsa")
KEYS = {"RSA-2048": a_seal(ROOT, "rsa"), "P-256": a_seal(ROOT)}


async def run() -> None:
    files = [noisy(pages, size) for pages, size in SIZES.values()]
    await asyncio.to_thread(beside, files)
    await whole(files)
    await together(files[1])
    await memory(files[-1])
    await serving.growth(files[1])


def noisy(pages: int, size: int) -> bytes:
    """A picture of noise and forty lines of text on each page."""
    noise, pdf = random.Random(pages), pikepdf.new()
    font = pdf.make_indirect(Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica))
    width = 200
    height = (size // pages - 2_500) // width
    for number in range(1, pages + 1):
        page = pdf.add_blank_page(page_size=(595, 842))
        picture = Stream(pdf, noise.randbytes(width * height))
        picture.update(Dictionary(Type=Name.XObject, Subtype=Name.Image, Width=width, Height=height))
        picture.update(Dictionary(ColorSpace=Name.DeviceGray, BitsPerComponent=8))
        page.obj.Resources = Dictionary(Font=Dictionary(F1=font), XObject=Dictionary(I=picture))
        lines = "".join(
            f"BT /F1 10 Tf 60 {700 - 14 * line} Td (Line {line} of page {number}.) Tj ET\n"
            for line in range(40)
        )
        page.obj.Contents = Stream(pdf, f"q 120 0 0 60 400 740 cm /I Do Q\n{lines}".encode())
    target = io.BytesIO()
    pdf.save(target)
    return target.getvalue()


# ---------- the sealing step, beside others ----------


def beside(files: Sequence[bytes]) -> None:
    issued = KEYS["RSA-2048"]
    with sealers.libpdf(files, issued) as libpdf:
        contenders = {
            "esign": sealers.esign(files, issued),
            "libpdf": libpdf,
            "stock pyHanko": sealers.stock(files, issued),
        }
        for name, sealer in contenders.items():
            for number in range(len(files)):
                found = verify_signatures(sealer.sealed(number), [ROOT.der], NOW)
                if found["result"] != "valid" or found["signatures"][0]["level"] != "B-B":
                    raise RuntimeError(f"what {name} sealed is {found}")
        medians = [race_sealers(contenders, number) for number in range(len(files))]
    print("\n| the step that seals, ms | esign | libpdf | pyHanko | esign / libpdf | esign / pyHanko |")
    print("|---|--:|--:|--:|--:|--:|")
    for number, name in enumerate(SIZES):
        ours, theirs, before = medians[number].values()
        least = (
            format_bound(ours / before, "at most 0.05", ours <= before / 20)
            if not number
            else f"{ours / before:.3f}"
        )
        print(
            f"| {name} | {1000 * ours:.2f} | {1000 * theirs:.2f} | {1000 * before:.1f} |"
            f" {format_bound(ours / theirs, 'at most 0.6', ours <= 0.6 * theirs)} | {least} |"
        )


def format_bound(value: float, bound: str, within: bool) -> str:
    """A figure with what it may be."""
    return f"{value:.3g} ({bound}{'' if within else ': MISSED'})"


def race_sealers(contenders: Mapping[str, Sealer], number: int) -> dict[str, float]:
    """Median seconds of each with one file, in turns after some to warm up."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(WARM + ROUNDS):
        for name, sealer in contenders.items():
            times[name].append(sealer.seconds(number))
    return {name: statistics.median(taken[WARM:]) for name, taken in times.items()}


# ---------- a document's whole way ----------


@dataclass(frozen=True)
class SealingBench:
    """Workers, as many as asked for, and an authority for time stamps on loopback."""

    workers: Workers
    stamps: TimeStampClient

    async def plain(self, order: SealOrder, credential: Credential) -> SealedFiles:
        return await self.workers.seal(order, credential)

    async def with_time(self, order: SealOrder, credential: Credential) -> SealedFiles:
        wanted = replace(order, level="B-T", asked="B-T", authorities=("127.0.0.1",))
        begun = await self.workers.begin_seal(wanted, credential)
        got = await self.stamps.stamp_signatures([begun.document.signature, begun.certificate.signature])
        return await self.workers.finish_seal(begun, [stamp.token for stamp in got], credential)

    def peak(self) -> float:
        """MiB of memory that the largest worker had at any time."""
        return max(serving.peak(pid) for pid in self.workers.pids)


@asynccontextmanager
async def a_way(size: int = 1) -> AsyncIterator[SealingBench]:
    async with stamping() as tsa:
        http, workers = DirectClient(), Workers(size)
        try:
            yield SealingBench(workers, TimeStampClient([RemoteAddress(url=tsa.url)], http, FakeClock()))
        finally:
            await workers.close()
            await http.close()


def an_order_of(pdf: bytes) -> SealOrder:
    """Six fields filled in, a certificate page, a trail of twelve entries."""
    return replace(make_seal_order(a_trail(12), pdf), fields=every_type()[:6])


async def whole(files: Sequence[bytes]) -> None:
    """Seconds from the order to the answer of one warm worker."""
    orders = [an_order_of(pdf) for pdf in files]
    print("\n| the whole way, ms | at most | RSA-2048 | P-256 | RSA-2048, B-T | P-256, B-T |")
    print("|---|--:|--:|--:|--:|--:|")
    async with a_way() as way:
        for name, order, most in zip(SIZES, orders, MOST_MS, strict=True):
            kinds: list[tuple[Callable[[SealOrder, Credential], Awaitable[SealedFiles]], Issued]] = [
                (how, issued) for how in (way.plain, way.with_time) for issued in KEYS.values()
            ]
            times: list[list[float]] = [[] for _ in kinds]
            for _ in range(3 + ROUNDS):
                for (how, issued), taken in zip(kinds, times, strict=True):
                    began = time.perf_counter()
                    await how(order, issued.credential)
                    taken.append(1000 * (time.perf_counter() - began))
            medians = [statistics.median(taken[3:]) for taken in times]
            missed = ": MISSED" if most and max(medians[:2]) > most else ""
            print(f"| {name} | {most or ''}{missed} | {' | '.join(f'{median:.1f}' for median in medians)} |")


async def together(pdf: bytes) -> None:
    """All asked for at once, of as many workers as the program has."""
    order = an_order_of(pdf)
    print("\n| two workers, ten pages | documents per second |\n|---|--:|")
    async with a_way(size=2) as way:
        for name, issued in KEYS.items():
            rates = []
            for _ in range(1 + BATCHES):
                began = time.perf_counter()
                await asyncio.gather(*(way.plain(order, issued.credential) for _ in range(TOGETHER)))
                rates.append(TOGETHER / (time.perf_counter() - began))
            rate = statistics.median(rates[1:])
            print(f"| {name} | {format_bound(rate, 'at least 25', rate >= 25)} |")


# ---------- memory ----------


async def memory(pdf: bytes) -> None:
    """The most that a worker takes which does nothing else."""
    order, credential = an_order_of(pdf), KEYS["RSA-2048"].credential
    print("\n| memory | MiB |\n|---|--:|")
    async with a_way() as way:
        made = [await way.plain(order, credential) for _ in range(ROUNDS)][-1]
        tell("a worker that seals 13 MB", way.peak())
    async with a_way() as way:
        for _ in range(ROUNDS):
            await way.with_time(order, credential)
        tell("the same with time stamps", way.peak())
    archived = await stamp_as_others(made.sealed)
    for name, file in (
        ("a worker that verifies 13 MB", made.sealed),
        ("the same with a time stamp behind the seal", archived),
    ):
        async with a_way() as way:
            taken = [await time_verification(way, file) for _ in range(3)]
            tell(name, way.peak(), taken[-1])


async def time_verification(way: SealingBench, file: bytes) -> float:
    """Seconds to find a file valid."""
    began = time.perf_counter()
    found = await way.workers.verify(file, VerificationCase((ROOT.der,), NOW))
    if found["result"] != "valid":
        raise RuntimeError(f"a file that was sealed here is {found}")
    return time.perf_counter() - began


def tell(name: str, mebibytes: float, seconds: float | None = None) -> None:
    more = f", {1000 * seconds:.0f} ms" if seconds is not None else ""
    print(f"| {name}{more} | {format_bound(mebibytes, 'at most 250', mebibytes <= 250)} |")

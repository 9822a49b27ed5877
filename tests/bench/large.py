"""Small requests while large files arrive: what a GET waits for, and the memory of the server."""

import asyncio
import io
import random
from collections.abc import Iterator

from PIL import Image

from tests.bench import drive
from tests.bench.dense import make_dense_pdf
from tests.bench.installation import BenchInstallation, document, install_program, read_memory
from tests.bench.reading import PATH, create_documents
from tests.bench.table import Figure

UPLOADERS, SECONDS = 4, 20.0
SCAN_PAGES = 11
LONG = 500
FILES = 8
EVERY = 0.01


async def measure_large(most_ms: float, most_mb: float) -> Figure:
    """The 99th percentile of a hundred GETs a second while four clients upload scans and long files."""
    async with install_program() as at:
        path = (await create_documents(at, 1))[0]
        async with (
            drive.open_requests([drive.build_get(at, path)]) as small,
            drive.open_requests(build_uploads(at)) as large,
        ):
            quiet = await drive.drive_requests(at.port, small, seconds=2.0, every=EVERY)
            watching = asyncio.create_task(watch_memory(at.pid))
            uploading = asyncio.create_task(
                drive.drive_requests(at.port, large, UPLOADERS, SECONDS, accepted=("201", "429"))
            )
            found = await drive.drive_requests(at.port, small, seconds=SECONDS, every=EVERY)
            uploads = await uploading
            watching.cancel()
            peak = await watching
    note = (
        f"{uploads.count} uploads, {uploads.median / 1000:.1f} s each; "
        f"before them the p99 was {quiet.p99:.1f} ms and the middle {quiet.median:.2f} ms, then {found.median:.2f} ms."
    )
    text = f"p99 {found.p99:.0f} ms, {peak:.0f} MB"
    return Figure(text, found.p99 <= most_ms and peak <= most_mb, note)


def build_uploads(at: BenchInstallation) -> Iterator[bytes]:
    """Yield scans and long files in turn."""
    for number in range(FILES):
        pdf = make_dense_pdf(LONG, number % 2) + b"%%%d\n" % number if number % 2 else make_scan(number)
        yield drive.build_post(at, PATH, document(pdf))


def make_scan(seed: int) -> bytes:
    """Return a PDF of A4 pages in 300 dpi with the grain of paper, of nearly 25 MB."""
    grain = random.Random(seed)
    papers = [Image.frombytes("L", (620, 877), grain.randbytes(620 * 877)) for _ in range(SCAN_PAGES)]
    first, *rest = (paper.resize((2480, 3508)) for paper in papers)
    target = io.BytesIO()
    first.save(target, "PDF", save_all=True, append_images=rest, resolution=300)
    return target.getvalue()


async def watch_memory(pid: int) -> float:
    """Return the most memory that a process had until this is cancelled, in MB (PSS)."""
    most = 0.0
    try:
        while True:
            most = max(most, await asyncio.to_thread(read_memory, pid))
            await asyncio.sleep(0.1)
    except asyncio.CancelledError:
        return most

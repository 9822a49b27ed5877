"""Replicate a running installation with Litestream, kill both, restore, compare.

python -m tests.reliability litestream --binary FILE [--rounds N] [--seconds N] [--seed N]

In each round one client creates documents with a picture of its own, so that the log of the database grows and is cut
again and again. The server is killed, in every second round together with Litestream. What had been acknowledged more
than `SYNC` seconds before Litestream ended must be in the restored copy, which must be intact.
"""

import argparse
import asyncio
import base64
import http.client
import io
import json
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pikepdf

from tests.journeys.program import Program, configuration, esign

SYNC = 2.0  # seconds; Litestream copies each second
SETTLING = 4.0  # seconds that Litestream may go on after the server was killed, in every second round
SIDE = 1000  # pixels of the picture in each document
LIMITS = "[limits]\nrequests_per_minute = 100000\n"
CONFIGURATIONS = {  # by the beginning of the version
    "0.3": "dbs:\n - path: {database}\n   replicas:\n    - type: file\n      path: {replica}\n",
    "0.5": "dbs:\n - path: {database}\n   replica:\n     type: file\n     path: {replica}\n",
}
NOT_COPIED = ("esign.db", "pictures", "reserve", "lock", "write.lock", ".")


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A document whose creation was answered with 201, and when, in seconds of the monotonic clock."""

    id: str
    at: float


def make_pdf(random: Random) -> bytes:
    """Return a PDF of one page with a picture of 1 MB that nothing can compress."""
    pdf = pikepdf.new()
    page = pdf.add_blank_page(page_size=(595, 842))
    picture = pikepdf.Stream(pdf, random.randbytes(SIDE * SIDE))
    picture.update(
        pikepdf.Dictionary(
            Type=pikepdf.Name.XObject,
            Subtype=pikepdf.Name.Image,
            Width=SIDE,
            Height=SIDE,
            ColorSpace=pikepdf.Name.DeviceGray,
            BitsPerComponent=8,
        )
    )
    page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(I=pdf.make_indirect(picture)))
    page.Contents = pikepdf.Stream(pdf, b"q 300 0 0 300 50 50 cm /I Do Q")
    content = io.BytesIO()
    pdf.save(content)
    return content.getvalue()


def create_documents(base: str, key: str, seconds: float, random: Random) -> list[Acknowledged]:
    """Create one document after the other for some seconds, and return those that were acknowledged."""
    place = urlsplit(base)
    with closing(http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)) as connection:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        made, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            body = {
                "fileName": "a.pdf",
                "file": base64.b64encode(make_pdf(random)).decode(),
                "recipients": [{"name": "Ada", "email": "ada@example.test"}],
                "send": True,
            }
            connection.request("POST", "/api/v1/documents", json.dumps(body), headers)
            answer = connection.getresponse()
            said = json.loads(answer.read())
            assert answer.status == 201, said
            made.append(Acknowledged(said["id"], time.monotonic()))
        return made


def restore(binary: Path, folder: Path, data: Path) -> str:
    """Restore the database into `folder` with the keys of `data`. Return what Litestream said if it failed."""
    folder.mkdir(0o700)
    ran = subprocess.run(
        [
            binary,
            "restore",
            "-config",
            data.parent / "litestream.yml",
            "-o",
            folder / "esign.db",
            data / "esign.db",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    for path in data.iterdir():
        if not path.name.startswith(NOT_COPIED):
            (shutil.copytree if path.is_dir() else shutil.copy2)(path, folder / path.name)
    return "" if ran.returncode == 0 else ran.stderr[-1000:] or "it failed"


async def run_round(binary: Path, version: str, seconds: float, random: Random, settle: bool) -> list[str]:
    """Run one round in a folder of its own, print its figures, and return what is wrong."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        data = place / "data"
        program = Program(configuration(place, LIMITS))
        await program.start()
        key = esign("keys", "create", "--name", "load", "--config", program.config).out.strip()
        (place / "litestream.yml").write_text(
            CONFIGURATIONS[version].format(database=data / "esign.db", replica=place / "replica")
        )
        with (place / "litestream.log").open("wb") as log:
            arguments = ("replicate", "-config", place / "litestream.yml")
            copier = await asyncio.create_subprocess_exec(binary, *arguments, stdout=log, stderr=log)
        try:
            made = await asyncio.to_thread(create_documents, program.base, key, seconds, random)
        finally:
            await program.kill()
            if settle:
                await asyncio.sleep(SETTLING)
            copier.kill()
            ended = time.monotonic()
            await copier.wait()
        if failed := await asyncio.to_thread(restore, binary, place / "restored", data):
            return [f"the restore failed: {failed}"]
        with closing(sqlite3.connect(place / "restored/esign.db")) as connection:
            kept = {each for (each,) in connection.execute("SELECT id FROM document")}
        lost = [each for each in made if each.id not in kept]
        late = [each for each in lost if each.at < ended - SYNC]
        print(
            f"{len(made)} acknowledged, {len(lost)} not in the copy"
            + (f", the oldest {ended - lost[0].at:.2f} s before the end" if lost else "")
        )
        wrong = [f"{len(late)} documents lost that were acknowledged {SYNC} s before the end"] if late else []
        for command in ("check", "verify-audit"):
            where = {"ESIGN_STORAGE__DATA_DIR": str(place / "restored")}
            ran = esign(command, "--config", program.config, env=where)
            if ran.code:
                wrong.append(f"esign {command}: {ran.out[-500:]}")
        return wrong


def main(arguments: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability litestream", description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--version", choices=CONFIGURATIONS, default="0.3", help="of Litestream")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    random, missed = Random(asked.seed), 0
    for number in range(asked.rounds):
        wrong = asyncio.run(
            run_round(asked.binary, asked.version, asked.seconds, random, settle=number % 2 == 0)
        )
        for each in wrong:
            print(f"MISSED {each}")
        missed += bool(wrong)
    print(f"{asked.rounds} rounds, {missed} missed")
    return 1 if missed else 0

"""Three who seal the same bytes with the same key: esign, pyHanko as it comes, and the library of Documenso."""

import io
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import signers
from pyhanko.sign.fields import SigSeedSubFilter

from esign.pdf.seal import seal
from tests.pdf.local_seal import load_key
from tests.pdf.others import certificate, key, store
from tests.pdf.sealing import sign_file
from tests.pki import NOW, Issued

LIBPDF = "@libpdf/core@0.4.2"
SCRIPT = Path(__file__).with_name("libpdf.mjs")
REASON = "All recipients have finished"
PASSPHRASE = "bench"


@dataclass(frozen=True)
class Sealer:
    """`seconds` seals the file of that index and says how long that took, `sealed` gives what comes out."""

    seconds: Callable[[int], float]
    sealed: Callable[[int], bytes]


def esign(files: Sequence[bytes], issued: Issued) -> Sealer:
    loaded = load_key(issued.credential)
    return _in_python(files, lambda pdf: sign_file(pdf, loaded, NOW, REASON))


def stock(files: Sequence[bytes], issued: Issued) -> Sealer:
    """pyHanko's front door; to be called where no event loop runs."""
    signer = signers.SimpleSigner(
        signing_cert=certificate(issued), signing_key=key(issued), cert_registry=store(*issued.issuers)
    )
    about = signers.PdfSignatureMetadata(
        field_name=seal.FIELD, md_algorithm="sha256", reason=REASON, subfilter=SigSeedSubFilter.PADES
    )

    def sign(pdf: bytes) -> bytes:
        writer = IncrementalPdfFileWriter(io.BytesIO(pdf))
        return bytes(signers.sign_pdf(writer, about, signer).getvalue())

    return _in_python(files, sign)


def _in_python(files: Sequence[bytes], sign: Callable[[bytes], bytes]) -> Sealer:
    def seconds(number: int) -> float:
        began = time.perf_counter()
        sign(files[number])
        return time.perf_counter() - began

    return Sealer(seconds, lambda number: sign(files[number]))


@contextmanager
def libpdf(files: Sequence[bytes], issued: Issued) -> Iterator[Sealer]:
    """In one process of node, fetched from npm into a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", folder, LIBPDF], check=True
        )
        shutil.copy(SCRIPT, folder)
        (folder / "key.p12").write_bytes(issued.pkcs12(PASSPHRASE))
        paths = [folder / f"{number}.pdf" for number in range(len(files))]
        for path, pdf in zip(paths, files, strict=True):
            path.write_bytes(pdf)
        command: list[str | Path] = [
            "node",
            folder / SCRIPT.name,
            folder / "key.p12",
            PASSPHRASE,
            str(NOW),
            *paths,
        ]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:
            assert node.stdin and node.stdout
            ask = partial(_ask, node.stdin, node.stdout)
            yield Sealer(ask, lambda number: _time_sealer(ask, number, folder / "sealed.pdf"))
            node.stdin.close()


def _ask(to: IO[str], by: IO[str], number: int, into: Path | None = None) -> float:
    print(json.dumps({"sign": number, "into": str(into) if into else None}), file=to, flush=True)
    return float(json.loads(by.readline())["milliseconds"]) / 1000


def _time_sealer(ask: Callable[..., float], number: int, path: Path) -> bytes:
    ask(number, path)
    return path.read_bytes()

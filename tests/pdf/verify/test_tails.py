"""What stands behind a seal is valid only if it is exactly proof, in whatever way its table is written."""

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import pypdfium2
import pytest

from esign.core.errors import Problem
from esign.core.instant import DAY
from esign.pdf.inspection import UploadLimits
from esign.pdf.intake.inspect import inspect_upload
from esign.pdf.report import Verification
from esign.pdf.verdict_sentences import NOT_COMPARED, UNRECOGNISED
from esign.pdf.verify import page_compare
from esign.pdf.verify.validate import verify_signatures
from tests.every import EVERY
from tests.pdf.local_seal import begin_seal, finish_seal, seal_document
from tests.pdf.others import a_stamper, signed_in_loop, stamped_in_loop
from tests.pdf.proofs import a_list, an_answer, with_junk, with_proofs
from tests.pdf.sealing import a_pdf, a_trail, an_order, make_seal_order
from tests.pdf.tails import (
    WORDS,
    Proofs,
    RevisionStyle,
    a_store,
    facts,
    forge_words,
    hide_payloads,
    revision,
    seen_stamps,
    stamped_like_dss,
    touch_pages,
)
from tests.pki import NOW, a_seal, an_authority

ROOT = an_authority()
STAMPS = an_authority("Test Time Stamps Root")
ROOTS = (ROOT.der, STAMPS.der)
SEAL = a_seal(ROOT)
PROOFS = Proofs(SEAL.der, a_list(ROOT, NOW), an_answer(ROOT, SEAL, NOW))
LIMITS = UploadLimits(file_bytes=25 * 2**20, pages=500)


def seal_with_time_stamp() -> bytes:
    """A seal of ours with a time stamp, B-T."""
    begun = begin_seal(
        replace(an_order(a_pdf()), level="B-T", asked="B-T", authorities=("x",)), SEAL.credential
    )
    stamper = a_stamper()

    def token(signature: bytes) -> bytes:
        digest = hashlib.sha256(signature).digest()
        return bytes(asyncio.run(stamper.async_timestamp(digest, "sha256")).dump())

    files = (begun.document, begun.certificate)
    return finish_seal(begun, [token(one.signature) for one in files], SEAL.credential).sealed


def seal_normalised() -> bytes:
    """A seal of ours over a file as it comes from an upload: with object streams and a cross-reference stream."""
    return inspect_upload(a_pdf({}, {}, title="Supply"), LIMITS).prepared


@cache
def base(name: str) -> bytes:
    return MAKERS[name]()


MAKERS: dict[str, Callable[[], bytes]] = {
    "B-B": lambda: seal_document(an_order(a_pdf()), SEAL.credential).sealed,
    "B-B with streams": lambda: (
        seal_document(make_seal_order(a_trail(), seal_normalised()), SEAL.credential).sealed
    ),
    "certificate": lambda: (
        seal_document(make_seal_order(a_trail(), seal_normalised()), SEAL.credential).certificate
    ),
    "B-T": seal_with_time_stamp,
    "LT by pyHanko": lambda: with_proofs(base("B-T"), a_list(ROOT, NOW)),
    "LTA by pyHanko": lambda: stamped_in_loop(base("LT by pyHanko"), a_stamper()),
    "LTA by pyHanko with streams": lambda: stamped_in_loop(
        with_proofs(base("B-B with streams"), a_list(ROOT, NOW)), a_stamper()
    ),
    "time stamp as by EU DSS": lambda: stamped_like_dss(base("B-B")),
}
ATTACKED = ("B-B", "B-B with streams", "B-T", "LT by pyHanko", "LTA by pyHanko", "time stamp as by EU DSS")
READ = ("B-B", "B-B with streams", "certificate")  # by programs of others, which take their time


def verdict(file: bytes) -> Verification | None:
    """None where there is nothing to judge."""
    try:
        return verify_signatures(file, ROOTS, NOW + DAY)
    except Problem:
        return None


def result(file: bytes) -> str:
    found = verdict(file)
    return found["result"] if found else "refused"


# ---------- honest files ----------


def make_honest(name: str) -> Iterator[tuple[str, bytes]]:
    file = base(name)
    yield name, file
    yield f"{name}, stored", with_proofs(file, a_list(STAMPS, NOW), certificates=(ROOT.der, SEAL.der))
    yield f"{name}, stored with answers", with_proofs(file, answers=(PROOFS.answer,))
    yield f"{name}, stamped", stamped_in_loop(file, a_stamper())
    yield f"{name}, stamped twice", stamped_in_loop(stamped_in_loop(file, a_stamper()), a_stamper())
    known = facts(file)
    yield f"{name}, by hand", revision(known, a_store(known, PROOFS))
    like_dss = RevisionStyle(first=b"\r\n", widths=(1, 3, 0), packed=True, entry=b"%010d 00000 n\r\n")
    yield f"{name}, as DSS stores", revision(known, a_store(known, PROOFS, packed=True), like_dss)
    yield f"{name}, as DSS stamps", stamped_like_dss(file)
    yield f"{name}, as DSS twice", stamped_like_dss(stamped_like_dss(file))


@pytest.mark.parametrize("name", MAKERS)
def test_no_honest_file_is_refused(name: str) -> None:
    for what, file in make_honest(name):
        found = verdict(file)
        assert found and found["result"] == "valid", (what, found and found["signatures"])
        assert found["unchanged"] is (b"/DSS" not in file and b"/DocTimeStamp" not in file), what


def test_what_was_added_is_said_and_a_file_with_additions_is_not_called_unchanged() -> None:
    only = "What was signed has not changed. Only proof was added after signing: "
    for name, additions, summary in (
        ("B-B", [], "The file has not changed since it was signed."),
        ("LT by pyHanko", ["validation_data"], f"{only}validation data."),
        ("time stamp as by EU DSS", ["document_timestamp"], f"{only}a document time stamp."),
        (
            "LTA by pyHanko",
            ["validation_data", "document_timestamp"],
            f"{only}validation data and a document time stamp.",
        ),
    ):
        found = verdict(base(name))
        assert found is not None
        [signature] = found["signatures"]
        assert (found["summary"], signature["additions"]) == (summary, additions)
        assert found["unchanged"] is (not additions)
        assert signature["modification"] == ("lta_updates" if additions else "none")


def test_what_is_refused_is_said_too() -> None:
    known = facts(base("B-B"))
    [*_, (_, file)] = hide_payloads(base("B-B"), PROOFS)
    found = verdict(file)
    assert found and found["result"] == "invalid" and not found["unchanged"]
    assert found["summary"].startswith("Do not rely on this file. The file was changed after signing")
    assert known.file == file[: len(known.file)]


# ---------- attacks ----------


def attacks(name: str) -> Iterator[tuple[str, bytes]]:
    yield from hide_payloads(base(name), PROOFS)
    yield from touch_pages(base(name), PROOFS)
    yield from seen_stamps(base(name))
    yield from forge_words(base(name), PROOFS)


@pytest.mark.parametrize("name", ATTACKED)
def test_no_revision_that_is_more_than_proof_is_valid(name: str) -> None:
    """In each run every attack on half of the files, by `packaging/test every` on all."""
    turn, step = (0, 1) if EVERY else (ATTACKED.index(name) % 2, 2)
    found = {what: result(file) for what, file in islice(attacks(name), turn, None, step)}
    assert len(found) > 60 / step
    assert [what for what, said in found.items() if said == "valid"] == []


def test_there_are_more_than_three_hundred_of_them() -> None:
    assert sum(1 for name in ATTACKED for _ in attacks(name)) >= 300


def test_behind_the_signature_of_another_program_they_are_not_valid_either() -> None:
    """Its writer allows more than proof, so that what is not recognised may be a doubt, and readers decide the rest."""
    signed = signed_in_loop(a_pdf(), SEAL, "One", a_stamper())
    assert result(with_proofs(signed, a_list(ROOT, NOW))) == "valid"
    assert result(stamped_like_dss(signed)) == "valid"
    found = {
        what: result(file) for source in (hide_payloads, touch_pages) for what, file in source(signed, PROOFS)
    }
    assert [what for what, said in found.items() if said == "valid"] == []
    junk = verdict(with_junk(signed, b"text"))
    assert junk and junk["result"] == "indeterminate" and UNRECOGNISED in junk["signatures"][0]["reasons"]
    assert junk["signatures"][0]["modification"] == "other"


# ---------- what others show ----------


def show_pages(file: bytes, folder: Path) -> dict[str, str]:
    """The text and the pixels of each page by pdfium, poppler and MuPDF."""
    path = folder / "file.pdf"
    path.write_bytes(file)
    drawn = {
        "poppler text": ["pdftotext", "-layout", str(path), "-"],
        "poppler pixels": ["pdftoppm", "-r", "40", str(path)],
        "mupdf text": ["mutool", "draw", "-q", "-F", "txt", str(path)],
        "mupdf pixels": ["mutool", "draw", "-q", "-r", "40", "-F", "pnm", "-o", "-", str(path)],
    }
    found = {
        name: hashlib.sha256(
            subprocess.run(command, capture_output=True, check=False, timeout=60).stdout
        ).hexdigest()
        for name, command in drawn.items()
    }
    try:
        document = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError:
        return found | {"pdfium": "nothing"}
    try:
        pixels = b"".join(bytes(page.render(scale=0.5).buffer) for page in document)
        text = "".join(page.get_textpage().get_text_bounded() for page in document)
        return found | {"pdfium": hashlib.sha256(pixels + text.encode()).hexdigest()}
    finally:
        document.close()


@pytest.mark.parametrize("name", READ)
def test_readers_show_of_every_honest_file_what_was_sealed(name: str, tmp_path: Path) -> None:
    sealed = show_pages(base(name), tmp_path)
    for what, file in make_honest(name):
        assert show_pages(file, tmp_path) == sealed, what


def test_some_reader_shows_another_page_for_many_of_the_attacks(tmp_path: Path) -> None:
    """What shows that the attacks are ones: a generator of broken files alone would prove nothing."""
    sealed = show_pages(base("B-B"), tmp_path)
    fooled = {
        reader
        for what, file in hide_payloads(base("B-B"), PROOFS)
        if what.startswith("content")
        for reader, seen in show_pages(file, tmp_path).items()
        if seen != sealed[reader]
    }
    assert fooled >= {"poppler text", "mupdf text", "pdfium"}, fooled


# ---------- the second line of defence ----------


def test_pages_that_look_otherwise_are_told_apart() -> None:
    file = base("B-B")
    known = facts(file)
    same = revision(known, a_store(known, PROOFS))
    other = revision(known, {known.content: b"<< /Length 0 >>\nstream\n\nendstream"})
    forever = 1e9
    assert page_compare.is_look_identical(file, same, forever) is True
    assert page_compare.is_look_identical(file, other, forever) is False
    assert (
        page_compare.is_look_identical(
            file, seal_document(an_order(a_pdf({}, {})), SEAL.credential).sealed, forever
        )
        is False
    )


def test_text_without_ink_counts_as_well() -> None:
    def page(words: str) -> bytes:
        return a_pdf(words=f"A line) Tj ET BT 3 Tr /F1 12 Tf 60 200 Td ({words}")

    assert page_compare.is_look_identical(page("one"), page("one"), 1e9) is True
    assert page_compare.is_look_identical(page("one"), page("two"), 1e9) is False


def test_what_takes_too_long_to_compare_is_a_doubt_and_never_valid(tmp_path: Path) -> None:
    assert page_compare.is_look_identical(base("B-B"), base("B-B"), 0) is None
    paths = []
    for name, content in (("file", base("LTA by pyHanko")), ("one", ROOTS[0]), ("two", ROOTS[1])):
        (tmp_path / name).write_bytes(content)
        paths.append(str(tmp_path / name))
    run = subprocess.run(
        [sys.executable, "-c", SHORT_OF_TIME, *paths], capture_output=True, check=True, timeout=120
    )
    first, second, reasons = run.stdout.decode().splitlines()
    assert (first, second) == ("valid", "indeterminate")
    assert NOT_COMPARED in reasons


# Verifies once with all the time there is, and once as a worker does that has only what `additions` holds back.
SHORT_OF_TIME = f"""
import sys, time
from esign.pdf.worker import sandbox
from esign.pdf.verify.validate import verify_signatures
file, *roots = [open(path, "rb").read() for path in sys.argv[1:]]
print(verify_signatures(file, roots, {NOW})["result"])
while time.process_time() % 1 > 0.2:
    pass
sandbox.allow_cpu(0)
found = verify_signatures(file, roots, {NOW})
print(found["result"])
print(found["signatures"][0]["reasons"])
"""


def test_the_words_of_the_attacks_are_in_the_files() -> None:
    assert sum(WORDS in file for _, file in hide_payloads(base("B-B"), PROOFS)) > 20

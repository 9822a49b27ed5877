"""`esign restore --sealed`: what was sealed after the backup comes back with the bytes that somebody kept."""

import asyncio
import io
import os
import re
import shutil
import sqlite3
import ssl
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pyhanko.sign.timestamps import DummyTimeStamper

from esign.actions.server.put_back import CannotPutBack, judge, was_in_use
from esign.actions.server.put_back import put_back as complete
from esign.authority import SealChange, load_or_make_authority
from esign.authority.selection import make_fresh_seal
from esign.cli.installation import load_config, open_installation
from esign.cli.put_back import make_tools
from esign.core.document import audit_file
from esign.core.instant import DAY, SECOND, to_datetime
from esign.core.seal_credential import Credential
from esign.pdf.audit.printed_head import find_printed_head
from esign.pdf.report import AuditHead
from esign.pdf.seal.seal import SealTerms
from esign.pdf.seal.sealed_parts import read_sealed_parts
from esign.pdf.seal_order import Level
from esign.pdf.verify.validate import verify_signatures
from esign.pdf.worker.workers import Workers
from esign.store.engine.connections import FILE
from esign.system.clock import SystemClock
from tests.journeys.api import Person, a_pdf
from tests.journeys.program import Ran, configuration, esign, meanwhile
from tests.journeys.site import JourneySite, a_site
from tests.journeys.test_restore import query
from tests.pdf.local_seal import fill_file, load_key, prepare_file
from tests.pdf.others import a_stamper
from tests.pdf.proofs import a_list, with_proofs
from tests.pki import an_authority

ADA: dict[str, Any] = {"name": "Ann Lovelace", "email": "ann@example.test", "order": 1}
Burnt = tuple[Path, dict[str, str]]
BOB = {"name": "Bob Byrd", "email": "bob@example.test", "order": 2}
WRONG: dict[str, Any] = {"name": "Ann Other", "email": "wrong@example.test", "order": 1}
COPY = {"name": "Cy Copeland", "email": "cy@example.test", "role": "cc"}


@dataclass(frozen=True)
class Lost:
    """A backup, restored in `folder`, and the files of documents that were sealed after it."""

    folder: Path
    config: Path
    ids: dict[str, str]

    def file(self, name: str) -> Path:
        return self.folder.parent / f"{name}.pdf"


async def forge(
    file: Path,
    credential: Credential,
    at: int,
    trail: bytes | None = None,
    level: Level = "B-B",
    stamper: DummyTimeStamper | None = None,
) -> bytes:
    """The certificate and the trail of a sealed file, under another seal, which may have a time stamp."""
    content = await asyncio.to_thread(file.read_bytes)
    parts, found = read_sealed_parts(content), find_printed_head(content)
    assert found is not None
    head: AuditHead = {"documentId": found[0], "entries": found[1], "hash": found[2], "embedded": True}
    key = load_key(credential)
    made = prepare_file(a_pdf(3), key, SealTerms(at, "x", head, trail or parts.trail, level, level))
    if stamper is None:
        return fill_file(made, key)
    token = await stamper.async_timestamp(sha256(made.signature).digest(), "sha256")
    return fill_file(made, key, token.dump())


def write_contents(sealed: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """The file with another hexadecimal text of its signature, which is as long."""
    found = max(re.finditer(rb"/Contents\s*<([0-9a-f]{200,})>", sealed), key=lambda each: len(each[1]))
    return sealed[: found.start(1)] + change(found[1]) + sealed[found.end(1) :]


@pytest.fixture(scope="module")
def burnt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The old installation ends in a fire; the files are what its people have in their mailboxes."""
    folder = tmp_path_factory.mktemp("burnt")
    return folder, asyncio.run(burn(folder))


@pytest.fixture
def lost(tmp_path: Path, burnt: Burnt) -> Lost:
    """What was restored, and the files, for one test."""
    folder, ids = burnt
    shutil.copytree(folder, tmp_path / "all")
    new = tmp_path / "all" / "new"
    return Lost(new, configuration(new), ids)


async def burn(tmp_path: Path) -> dict[str, str]:
    """Return the ids of the documents, by what became of them."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    ids: dict[str, str] = {}
    async with a_site(old / "data") as site:
        await site.api.webhook("http://127.0.0.1:19999/hook")
        for name in ("kept", "sealing", "aside", "cancelled", "viewed", "later"):
            ids[name] = await site.api.send_document()
        ids["sent"] = await site.api.send_document(recipients=[ADA, BOB, COPY])
        ids["draft"] = await site.api.create()
        await sign(site, ids["kept"])
        await site.work("seal")
        ids["corrected"] = await site.api.send_document(recipients=[WRONG])
        for name in ("sealing", "aside"):
            await sign(site, ids[name])
        await site.work("mail")
        wrong = await site.person(WRONG["email"])
        (tmp_path / "wrong-link").write_text(wrong.link.rpartition("/")[2])
        await (await site.person(ADA["email"])).view()
        config = configuration(old)
        made = await meanwhile("backup", "copy", "--plain", "--config", config, cwd=old)
        assert made.code == 0, made.err
        ids["after"] = await site.api.send_document()
        await site.api.send(ids["draft"])
        corrected = f"/documents/{ids['corrected']}/recipients"
        [right] = (await site.api.get(ids["corrected"]))["recipients"]
        await site.api.ok("PATCH", f"{corrected}/{right['id']}", {"email": ADA["email"]})
        for name in ("sent", "corrected", "cancelled", "viewed", "later", "draft", "after"):
            await sign(site, ids[name])
        await site.work("seal")
        for name, document in ids.items():
            (tmp_path / f"{name}.pdf").write_bytes(await site.api.file(document))
        (tmp_path / "certificate.pdf").write_bytes(await site.api.file(ids["sealing"], "certificate"))
        now = site.runtime.clock.now()
        foreign = load_or_make_authority(tmp_path / "foreign", "esign", now).live
        (tmp_path / "foreign.pdf").write_bytes(await forge(tmp_path / "sealing.pdf", foreign, now))
        own, find_key = site.runtime.keyring.authority, site.runtime.pdf.signer.find_key
        live, test = [
            replace(one, key_der=await find_key(one.certificate_der)) for one in (own.live, own.test)
        ]
        (tmp_path / "test.pdf").write_bytes(await forge(tmp_path / "sealing.pdf", test, now))
        trail = read_sealed_parts((tmp_path / "sealing.pdf").read_bytes()).trail
        other = trail.replace(b"Ada Lovelace", b"Eve Lovelace")
        proven = with_proofs((tmp_path / "sealing.pdf").read_bytes(), a_list(an_authority(), now))
        (tmp_path / "proven.pdf").write_bytes(proven)
        (tmp_path / "trail.pdf").write_bytes(await forge(tmp_path / "sealing.pdf", live, now, other))
        sealed = (tmp_path / "sealing.pdf").read_bytes()
        (tmp_path / "case.pdf").write_bytes(write_contents(sealed, bytes.upper))
        (tmp_path / "padded.pdf").write_bytes(write_contents(sealed, lambda text: text[:-2] + b"01"))
        for name, when in (("early", now - DAY), ("ahead", now + DAY)):
            (tmp_path / f"{name}.pdf").write_bytes(await forge(tmp_path / "sealing.pdf", live, when))
        good = a_stamper("Good Time", now)
        (root,) = good.certs_to_embed
        (tmp_path / "root.pem").write_text(ssl.DER_cert_to_PEM_cert(root.dump()))
        for name, document, stamper in (
            ("stripped", "sealing", None),
            ("old-stamp", "sealing", a_stamper("Mallory Time", now - 30 * DAY)),
            ("mallory", "sealing", a_stamper("Mallory Time", now)),
            ("good", "aside", good),
        ):
            stamped = await forge(tmp_path / f"{document}.pdf", live, now, level="B-T", stamper=stamper)
            (tmp_path / f"{name}.pdf").write_bytes(stamped)
    there = configuration(new)
    ran = await meanwhile("restore", "../old/copy", "--plain", "--config", there, cwd=new)
    assert ran.code == 0, ran.err
    return ids


async def sign(site: JourneySite, document: str) -> None:
    """Everybody signs, by links that the sender asked for."""
    for recipient in (await site.api.get(document))["recipients"]:
        if recipient["role"] == "signer":
            path = f"/documents/{document}/recipients/{recipient['id']}/link"
            await Person(site.session, (await site.api.ok("POST", path))["url"]).sign()


async def put_back(lost: Lost, *files: Path) -> Ran:
    return await meanwhile("restore", "--sealed", *files, "--config", lost.config, cwd=lost.folder)


def change(data: Path, statement: str) -> None:
    """Change one row of the database."""
    with closing(sqlite3.connect(data / FILE)) as connection, connection:
        assert connection.execute(statement).rowcount == 1


def lines(ran: Ran, file: Path) -> str:
    """What was said about a file."""
    return "\n".join(line for line in (ran.out + ran.err).splitlines() if line.startswith(f"{file}: "))


async def test_sealed_files_come_back(lost: Lost) -> None:
    sealing, sent = lost.file("sealing"), lost.file("sent")
    make_fresh_seal(lost.folder / "data", "esign", SystemClock().now())  # what sealed before stays known
    link = lost.folder / "link.pdf"
    link.symlink_to(sealing)
    data = lost.folder / "data"
    change(data, f"UPDATE outbox SET state = 'aside' WHERE key = 'seal:{lost.ids['aside']}'")
    ran = await put_back(lost, link, sent, lost.file("aside"), lost.file("corrected"))
    assert (ran.code, ran.err) == (0, "")
    assert f"{lost.ids['sealing']} is completed with this file." in lines(ran, link)
    assert "entries of its audit trail that the backup did not have were taken over" in lines(ran, sent)
    assert "Nothing was mailed for this, and no webhook was called." in ran.out
    again = await put_back(lost, sealing, sent)
    assert again.code == 0 and again.out.count("has this sealed file already; nothing was changed") == 2
    assert query(data, "SELECT count(*) FROM outbox WHERE kind = 'mail' AND key LIKE 'completed:%'") == [(2,)]
    assert query(data, "SELECT state FROM outbox WHERE kind = 'seal' AND state <> 'done'") == []
    assert query(data, "SELECT count(*) FROM delivery WHERE status = 'pending'") == [(0,)]
    resumed = await meanwhile("restore", "--resume", "--config", lost.config)
    assert resumed.code == 0 and lost.ids["sealing"] not in resumed.out.partition("two different files")[2]
    for arguments in (("verify-audit",), ("verify-audit", sent), ("verify", sent), ("verify", sealing)):
        said = await meanwhile(*arguments, "--config", lost.config)
        assert said.code == 0, (arguments, said)
    doctor = await meanwhile("doctor", "--data", "--seals", "--config", lost.config)
    assert doctor.code == 0, doctor.out + doctor.err

    async with a_site(data) as site:
        for name in ("sealing", "sent"):
            document = lost.ids[name]
            content = lost.file(name).read_bytes()
            assert await site.api.file(document) == content
            found = await site.api.get(document)
            assert found["status"] == "completed" and found["seal"]["size"] == len(content)
            acts = {r["status"] for r in found["recipients"] if r["role"] != "cc"}
            assert acts == {"completed"}
            entries = audit_file.list_entries(read_sealed_parts(content).trail)
            put_in = ["document.put_back", "document.completed", "document.downloaded"]
            assert await site.api.trail(document) == [*(entry.type for entry in entries), *put_in]
            alone = await site.api.file(document, "certificate")
            with pikepdf.open(io.BytesIO(alone)) as pages, pikepdf.open(lost.file(name)) as whole:
                assert len(pages.pages) == len(whole.pages) - 1
            assert read_sealed_parts(alone).alone
        await site.work("mail")
        assert query(data, "SELECT count(*) FROM outbox WHERE kind = 'mail' AND state <> 'done'") == [(0,)]
        completed = "SELECT count(*) FROM outbox WHERE kind = 'mail' AND key LIKE 'completed:%'"
        assert query(data, completed) == [(2,)]
        stranger = Person(site.session, f"{site.base}/s/{(lost.folder.parent / 'wrong-link').read_text()}")
        assert await site.api.status(lost.ids["corrected"]) == "completed"
        assert (await stranger.get("/sealed.pdf")).status == 404
        waits = lost.ids["later"]
        while_served = await put_back(lost, lost.file("later"))
        assert while_served.code == 0 and await site.api.status(waits) == "completed", while_served
        assert await site.api.file(waits) == lost.file("later").read_bytes()


async def test_what_does_not_fit_is_refused_and_named(lost: Lost) -> None:
    folder = lost.folder
    sealed = lost.file("sealing").read_bytes()
    made = {
        "text": b"no PDF at all",
        "unsealed": a_pdf(),
        "flipped": sealed[:600] + bytes([sealed[600] ^ 1]) + sealed[601:],
        "cut": sealed[: len(sealed) // 2],
        "revision": revise(sealed),
        "large": b"",
    }
    for name, content in made.items():
        lost.file(name).write_bytes(content)
    os.truncate(lost.file("large"), 70 * 2**20)
    os.mkfifo(lost.file("pipe"))
    refusals = {
        "text": "it is not a PDF",
        "unsealed": "it has no seal",
        "flipped": "it was changed after it was sealed",
        "cut": "the file is damaged and cannot be read as a PDF.",
        "revision": "after it was sealed",
        "proven": "something was added to it after it was sealed",
        "large": "it is larger than 66 MiB",
        "pipe": "it is not an ordinary file",
        "gone": "it cannot be read: No such file",
        "certificate": "it is the certificate of completion alone",
        "foreign": "its seal is not one of this installation",
        "test": "is a document in live mode, and the seal is not of that mode",
        "trail": "it was changed after it was sealed, or its seal is damaged",
        "case": "what no hash covers in its seal is not as it was written here",
        "padded": "something was added to it after it was sealed",
        "stripped": "something was added to it after it was sealed",
        "early": "its seal says that it was made before the last entry of the audit trail in it",
        "ahead": "which is later than now; check the clock",
        "old-stamp": "which is not between the last entry of the audit trail in it and now",
        "after": f"there is no document {lost.ids['after']} here: it was made after the backup",
        "draft": f"{lost.ids['draft']} was a draft in the backup",
    }
    before = query(folder / "data", "SELECT count(*), max(seq) FROM audit")
    ran = await put_back(lost, *map(lost.file, refusals), lost.file("kept"))
    assert ran.code == 1
    for name, reason in refusals.items():
        said = lines(ran, lost.file(name))
        assert said.startswith(f"{lost.file(name)}: not put back: ") and reason in said, (name, said)
    assert len(ran.err.splitlines()) == len(refusals)
    assert "has this sealed file already" in lines(ran, lost.file("kept"))
    assert query(folder / "data", "SELECT count(*), max(seq) FROM audit") == before

    async with a_site(folder / "data") as site:
        await site.api.ok("POST", f"/documents/{lost.ids['cancelled']}/cancel", {})
        await sign(site, lost.ids["viewed"])
        assert (await site.api.call("DELETE", f"/documents/{lost.ids['kept']}")).status in (200, 204)
        await site.work("seal")
        gone = {
            "cancelled": f"{lost.ids['cancelled']} is cancelled here since 20",
            "viewed": f"{lost.ids['viewed']} has another sealed file here",
            "kept": f"{lost.ids['kept']} was deleted here on 20",
        }
        refused = await put_back(lost, *map(lost.file, gone))
        assert refused.code == 1 and refused.out == ""
        for name, reason in gone.items():
            assert f"{lost.file(name)}: not put back: {reason}" in refused.err, (name, refused.err)
        later = lost.ids["later"]
        recipient = (await site.api.get(later))["recipients"][0]["id"]
        await site.api.ok("POST", f"/documents/{later}/recipients/{recipient}/link")
        forked = await put_back(lost, lost.file("later"))
        assert (
            forked.code == 1 and f"the audit trail of {later} went another way here from entry" in forked.err
        )
        assert await site.api.status(later) == "sent"


async def test_only_a_file_with_a_trusted_time_stamp_is_taken(lost: Lost) -> None:
    """A stamp is under no hash: what an exchanged one is in would be stored, and the genuine file refused."""
    mallory, good = lost.file("mallory"), lost.file("good")
    plain = lost.config.read_text()
    ran = await put_back(lost, mallory, good)
    assert ran.code == 1 and ran.out == "" and ran.err.count("which is not trusted here") == 2, ran
    lost.config.write_text(f"{plain}\n[seal]\ntrust = ['{lost.folder.parent / 'root.pem'}']\n")
    ran = await put_back(lost, mallory, good)
    assert f"{mallory}: not put back: its time stamp is by “Mallory Time”, which is not trusted" in ran.err
    assert f"{lost.ids['aside']} is completed with this file." in lines(ran, good)
    genuine = lost.file("sealing")
    assert f"{lost.ids['sealing']} is completed with this file." in lines(
        await put_back(lost, genuine), genuine
    )
    async with a_site(lost.folder / "data") as site:
        stamps = [(await site.api.get(lost.ids[name]))["seal"]["timestamp"] for name in ("aside", "sealing")]
    assert stamps[0]["authority"] == "Good Time" and stamps[1] is None


async def test_a_file_comes_back_after_the_certificate_of_its_time_stamp_expired(lost: Lost) -> None:
    """Also where that of the seal has not, and only if somebody trusts who made the stamp."""
    data, workers, now = lost.folder / "data", Workers(), SystemClock().now()
    own = load_or_make_authority(data, "esign", now).live
    short = to_datetime(now + 30 * DAY)
    good, mallory = (a_stamper(f"{name} Time", now, short) for name in ("Good", "Mallory"))
    files = {
        name: await forge(lost.file(document), own, now, level="B-T", stamper=stamper)
        for name, document, stamper in (("good", "aside", good), ("mallory", "sealing", mallory))
    }
    (root,) = good.certs_to_embed
    (lost.folder / "root.pem").write_text(ssl.DER_cert_to_PEM_cert(root.dump()))
    lost.config.write_text(f"{lost.config.read_text()}\n[seal]\ntrust = ['root.pem']\n")
    try:
        async with open_installation(load_config(lost.config)) as installation:
            ages = [
                make_tools(replace(installation, now=now + days * DAY), workers) for days in (10, 60, 5 * 365)
            ]
            for tools in ages:
                with pytest.raises(CannotPutBack, match="is by “Mallory Time”, which is not trusted here"):
                    await complete(tools, files["mallory"])
            tools = ages[1]
            made = await complete(tools, files["good"])
            assert made.done and made.document_id == lost.ids["aside"]
    finally:
        await workers.close()


def test_a_seal_counts_while_its_certificate_lasts(burnt: Burnt) -> None:
    now = SystemClock().now()
    authority = load_or_make_authority(burnt[0] / "new" / "data", "esign", now)
    content = (burnt[0] / "sealing.pdf").read_bytes()
    assert judge(verify_signatures(content, authority.roots, now, authority.own))[1]["embedded"]
    with pytest.raises(CannotPutBack, match="its seal is not confirmed: The certificate expired on 20"):
        judge(verify_signatures(content, authority.roots, now + 4 * 365 * DAY, authority.own))


async def test_a_file_comes_back_after_its_certificate_expired(lost: Lost) -> None:
    """The seal is judged as of the time that it names, when its certificate was valid and in use here."""
    data, workers = lost.folder / "data", Workers()
    later = SystemClock().now() + 4 * 365 * DAY
    old = load_or_make_authority(data, "esign", SystemClock().now()).live
    late = await forge(lost.file("sealing"), old, later - DAY)
    make_fresh_seal(data, "esign", later)
    try:
        async with open_installation(load_config(lost.config)) as installation:
            tools = make_tools(replace(installation, now=later), workers)
            with pytest.raises(
                CannotPutBack, match="its seal is not confirmed: The certificate expired on 20"
            ):
                await complete(tools, late)
            for name in ("sealing", "sent"):
                made = await complete(tools, lost.file(name).read_bytes())
                assert made.done and made.document_id == lost.ids[name]
    finally:
        await workers.close()


def test_a_certificate_was_in_use_until_another_came() -> None:
    changes = [SealChange(at * DAY, "uploaded", "x", name) for at, name in ((9, "a"), (5, "b"), (1, "a"))]
    uses = {name: [was_in_use(changes, name, day * DAY) for day in (0, 3, 7, 10)] for name in "abc"}
    assert uses == {"a": [True, True, False, True], "b": [False, False, True, False], "c": [True] * 4}
    assert was_in_use(changes, "a", 5 * DAY + SECOND) and was_in_use([], "a", 0)


def revise(sealed: bytes) -> bytes:
    """The file with an empty revision appended that names another document information."""
    place = sealed.rstrip().rfind(b"startxref") + len(b"startxref")
    start = int(sealed[place:].split()[0])
    added = b"9999 0 obj << /Title (other) >> endobj\n"
    at = len(sealed) + 1 + len(added)
    table = f"xref\n9999 1\n{len(sealed) + 1:010d} 00000 n \n"
    with pikepdf.open(io.BytesIO(sealed)) as pdf:
        root = pdf.Root.objgen[0]
    trailer = (
        f"trailer << /Size 10000 /Root {root} 0 R /Info 9999 0 R /Prev {start} >>\nstartxref\n{at}\n%%EOF\n"
    )
    return sealed + b"\n" + added + (table + trailer).encode()


def test_the_options_are_explained(tmp_path: Path) -> None:
    config = configuration(tmp_path)
    for arguments, said in (
        (["--sealed"], "Missing argument 'FILE'."),
        (["--sealed", "--resume", "x.pdf"], "--sealed takes no other option than --config."),
        (["a", "b"], "Name one backup."),
        (["--sealed", "x.pdf"], "there is no database in"),
    ):
        ran = esign("restore", *arguments, "--config", config, cwd=tmp_path)
        assert ran.code == 2 and said in ran.err, ran

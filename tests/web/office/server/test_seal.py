"""The certificate that seals, changed in the browser: what is wrong is told, and what is right is used at once."""

import asyncio
import hashlib
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from esign.actions.verification import verify_file
from esign.core.actor import Mode
from esign.core.people.member import MemberRole
from esign.core.people.user import FRESH
from tests.factories import an_organisation, store_organisation
from tests.journeys.test_seal import verify
from tests.pdf.local_seal import seal_document
from tests.pdf.sealing import a_pdf, an_order
from tests.pki import MADE, NOW, YEAR, Issued, a_key, a_seal, an_authority
from tests.web.office.visitor import Office, Page, Visitor, an_office

SEAL, UPLOAD, BACK, NEW = (f"/settings/seal{end}" for end in ("", "/upload", "/back", "/new"))
ROOT = an_authority()
MIDDLE = an_authority("Issuing CA", above=ROOT)
OWN = a_seal(MIDDLE)
WORD = "Äpfel & Birnen"


async def upload_seal(
    visitor: Visitor, *files: tuple[str, bytes], passphrase: str = "", path: str = UPLOAD, **more: str
) -> Page:
    await visitor.get(path)
    return await visitor.upload(path, "file", *files, passphrase=passphrase, **more)


def list_problems(page: Page) -> list[str]:
    """What stands in the way, one by one."""
    assert page.status == 422, page.said
    box = re.search(r'role="alert".*?</form>', page.text, re.DOTALL)
    assert box
    return [
        re.sub(r"<[^>]+>", "", one) for one in re.findall(r'<(?:li|p) class="any">(.*?)</(?:li|p)>', box[0])
    ]


def live(office: Office) -> bytes:
    return office.runtime.credentials[Mode.LIVE].certificate_der


def sha256(der: bytes) -> str:
    return hashlib.sha256(der).hexdigest()


def folder(office: Office) -> Path:
    return office.runtime.config.storage.data_dir


async def test_an_uploaded_certificate_seals_from_then_on_and_the_one_made_here_returns(
    office: Office,
) -> None:
    ada, site = await office.signed_in("Ada"), office.site
    made = live(office)
    before = await site.api.file(await site.complete_document())
    assert (
        await upload_seal(ada, ("own.p12", OWN.pkcs12(WORD)), passphrase=WORD)
    ).to == f"{SEAL}?done=seal-uploaded"
    page = await ada.get(f"{SEAL}?done=seal-uploaded")
    for said in (
        "now sealed with the uploaded certificate",
        "Acme Ltd Document Seal",
        "Issuing CA",
        "Uploaded and kept in this server’s data folder",
        bytes.fromhex(sha256(OWN.der)).hex(":"),
        "Uploaded · Ada <ada@example.test>",
        "Made by this server",
        "days left",
    ):
        assert said in page.said, said
    assert "Renews automatically" not in page.said and "made the certificate itself" not in page.said
    assert "The test page was sealed and verified." in (await ada.post(SEAL)).said

    other = [{"name": "Nora", "email": "nora@example.test"}]
    document_id = await site.complete_document(recipients=other)
    after = await site.api.file(document_id)
    for file, certificate in ((before, made), (after, OWN.der)):
        found = await verify(site, file)
        assert (found["result"], found["issuedHere"]) == ("valid", True)
        shown = found["signatures"][0]["certificate"]
        assert shown and shown["sha256"] == sha256(certificate)

    order = an_order(a_pdf())
    facts = {**order.certificate, "document": {**order.certificate["document"], "id": document_id}}
    somebody = a_seal(MIDDLE, name="Somebody Else").credential
    foreign = (await asyncio.to_thread(seal_document, replace(order, certificate=facts), somebody)).sealed
    finding = await verify_file.verify_for_anybody(office.runtime, foreign)
    assert (finding.verification["result"], finding.verification["issuedHere"]) == ("valid", False)
    assert finding.match is verify_file.Match.NOTHING, "it names a document of ours, and is not by us"

    kept = folder(office) / "uploaded-seal.pem"
    assert kept.stat().st_mode & 0o777 == 0o600 and b"BEGIN PRIVATE KEY" in kept.read_bytes()
    question = await ada.get(BACK)
    assert (
        question.title == "Return to this server’s certificate?"
        and "is deleted from this server" in question.said
    )
    assert (await ada.post(BACK)).to == f"{SEAL}?done=seal-back"
    assert live(office) == made and not kept.exists()
    assert "renews automatically" in (await ada.get(SEAL)).said
    assert (await verify(site, after))["issuedHere"] is True, "what was sealed meanwhile is still known"
    assert (await ada.get(BACK)).to == SEAL, "there is nothing to go back from"


async def test_neither_key_nor_passphrase_is_kept_where_it_must_not_be(office: Office) -> None:
    ada = await office.signed_in("Ada")
    page = await upload_seal(ada, ("own.p12", OWN.pkcs12(WORD)), passphrase="wrong <b>")
    assert "wrong &lt;b&gt;" not in page.text and "wrong <b>" not in page.text
    assert (await upload_seal(ada, ("own.p12", OWN.pkcs12(WORD)), passphrase=WORD)).status == 303
    stored = b"".join(one.read_bytes() for one in folder(office).iterdir() if one.is_file())
    assert WORD.encode() not in stored
    database = b"".join(one.read_bytes() for one in folder(office).glob("esign.db*"))
    held = office.runtime.credentials[Mode.LIVE]
    assert not held.key_der, "the server forgets it"
    assert (
        office.runtime.keyring.read_key(held.certificate_der) not in database
        and b"PRIVATE KEY" not in database
    )
    private = OWN.key.private_numbers().private_value.to_bytes(32, "big")  # type: ignore[union-attr]
    assert b"SQLite" in database and private not in database


SERVER = a_seal(ROOT, extensions=(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),))
WEAK = a_seal(ROOT, "rsa1024", extensions=(x509.BasicConstraints(ca=True, path_length=None),))
KEY, CERTIFICATE = ("own.key", OWN.key_pem(WORD)), ("own.crt", OWN.certificate.public_bytes(Encoding.PEM))
BARE = ("own.cer", OWN.der)
CHAIN = ("chain.pem", b"".join(one.public_bytes(Encoding.PEM) for one in OWN.issuers))


CASES: list[tuple[list[tuple[str, bytes]], list[str]]] = [
    (
        [("own.p12", OWN.pkcs12("another"))],
        ["the passphrase is wrong or the file is damaged. Check the passphrase"],
    ),
    ([("own.p12", b"\x30 damaged")], ["the file is damaged"]),
    (
        [("x.pdf", b"%PDF-1.7")],
        ["x.pdf is neither a PKCS#12 file (.p12 or .pfx) nor key or certificate in PEM; cho"],
    ),
    ([("tls.p12", SERVER.pkcs12(WORD))], ["The seal certificate in tls.p12 is only for serverAuth"]),
    (
        [("a.p12", WEAK.pkcs12(WORD))],
        ["weak key, RSA with 1024 bits", "certification authority (CA:TRUE)"],
    ),
    (
        [("a.p12", a_seal(ROOT, last=MADE + timedelta(days=9)).pkcs12(WORD))],
        ["expired on 2026-01-10. Choose another one"],
    ),
    ([("a.p12", a_seal(ROOT, first=MADE + 2 * YEAR).pkcs12(WORD))], ["is not valid before 2028-01-01"]),
    ([CERTIFICATE], ["own.crt holds no private key; choose the file of the key together with it"]),
    ([KEY], ["own.key holds no certificate; choose the file of the certificate together with it"]),
    (
        [("other.key", a_key_pem := Issued(a_key("p384"), OWN.certificate).key_pem()), CERTIFICATE],
        ["does not belong"],
    ),
    ([KEY, ("other.key", a_key_pem), CERTIFICATE], ["own.key and other.key hold a key each"]),
    ([("a.p12", OWN.pkcs12(WORD)), ("b.p12", SERVER.pkcs12(WORD))], ["a.p12 and b.p12 hold a seal each"]),
    ([("<b>.p12", b"\x30")], ["&lt;b&gt;.p12 cannot be opened"]),
    ([("big.p12", b"\x30" * (2**20 + 1))], ["big.p12 is too large"]),
]


async def test_what_is_wrong_with_a_certificate_is_told_and_nothing_changes(office: Office) -> None:
    made = live(office)
    for number, (files, problems) in enumerate(CASES):
        visitor = await office.signed_in(f"Ada{number}")  # each has ten tries
        found = list_problems(await upload_seal(visitor, *files, passphrase=WORD))
        assert len(found) == len(problems), found
        for one, said in zip(found, problems, strict=True):
            assert said in one and ("; " in one or ". " in one), "the remedy stands behind the cause"
        assert live(office) == made and not (folder(office) / "uploaded-seal.pem").exists()


async def test_a_passphrase_cannot_be_tried_without_end(office: Office) -> None:
    ada = await office.signed_in("Ada")
    for _ in range(10):
        assert (await upload_seal(ada, ("own.p12", b"\x30"), passphrase="x")).status == 422
    assert (await upload_seal(ada, ("own.p12", b"\x30"), passphrase="x")).status == 429


@pytest.mark.parametrize(
    "files", [[KEY, CERTIFICATE, CHAIN], [("all.pem", OWN.pem), KEY], [BARE, CHAIN, KEY]]
)
async def test_key_certificate_and_issuers_may_come_in_any_files(
    office: Office, files: list[tuple[str, bytes]]
) -> None:
    ada = await office.signed_in("Ada")
    assert (await upload_seal(ada, *files, passphrase=WORD)).status == 303
    assert office.runtime.credentials[Mode.LIVE] == OWN.credential.forget_key()


async def test_a_missing_issuer_is_told_until_it_is_brought(office: Office) -> None:
    ada = await office.signed_in("Ada")
    alone = ("own.p12", Issued(OWN.key, OWN.certificate).pkcs12(WORD))
    assert (await upload_seal(ada, alone, passphrase=WORD)).status == 303
    assert (
        "the certificate of “Issuing CA”, which issued “Acme Ltd Document Seal”, is missing"
        in (await ada.get(SEAL)).said
    )
    assert "The test page was sealed and verified." in (await ada.post(SEAL)).said
    assert (await upload_seal(ada, alone, CHAIN, passphrase=WORD)).status == 303
    assert "is missing" not in (await ada.get(SEAL)).said


async def test_a_form_without_a_file_says_so_and_one_that_is_too_large_too(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert (await upload_seal(ada)).wrong() == {"file": "No file was chosen."}
    large = await upload_seal(ada, ("own.p12", b"\x30" * 3 * 2**20))
    assert large.wrong() == {"file": "The file is too large. The limit is 1 MB."}


async def test_a_new_certificate_is_made_in_the_name_of_the_organisation(office: Office) -> None:
    ada = await office.signed_in("Ada")
    before = live(office)
    await ada.get("/settings/organisation")
    assert (await ada.post("/settings/organisation", organisationName="Fern & Söhne")).status == 303
    step = await ada.get("/server/seal")
    assert "before your organisation had its name" in step.said and f"{NEW}?at=server" in step.text
    question = await ada.get(f"{NEW}?at=server")
    assert question.title == "Make a new certificate?" and "in the name of Fern & Söhne" in question.said
    assert (await ada.post(f"{NEW}?at=server")).to == "/server/seal?done=seal-new"
    step = await ada.get("/server/seal")
    assert "Fern & Söhne Document Seal" in step.said and "before your organisation had" not in step.said
    assert live(office) != before
    assert "The test page was sealed and verified." in (await ada.post("/server/seal")).said
    assert "New certificate made · Ada" in (await ada.get(SEAL)).said


async def test_the_first_steps_lead_to_an_upload_and_back(office: Office) -> None:
    ada = await office.signed_in("Ada")
    step = await ada.get("/server/seal")
    assert "do this later" in step.said and f'href="{UPLOAD}?at=server"' in step.text
    uploaded = await upload_seal(
        ada, ("own.p12", OWN.pkcs12(WORD)), passphrase=WORD, path=f"{UPLOAD}?at=server"
    )
    assert uploaded.to == "/server/seal?done=seal-uploaded"
    assert "Acme Ltd Document Seal" in (await ada.get("/server/seal")).said


async def test_the_password_is_asked_for_again_before_the_seal_is_touched(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await ada.get(UPLOAD)
    office.clock.advance(milliseconds=FRESH)
    made = live(office)
    answer = await ada.upload(UPLOAD, "file", ("own.p12", OWN.pkcs12(WORD)), passphrase=WORD)
    assert answer.to.startswith("/confirm?next=")
    for path in (BACK, NEW):
        assert (await ada.post(path)).title == "Confirm it’s you"
    assert live(office) == made


@pytest.mark.parametrize("role", [MemberRole.MEMBER, MemberRole.VIEWER])
async def test_who_only_works_here_does_not_touch_the_seal(office: Office, role: MemberRole) -> None:
    bo = await office.signed_in("Bo", role)
    for path in (UPLOAD, BACK, NEW):
        assert (await bo.get(path)).status == 403 == (await bo.post(path)).status


async def test_another_organisation_of_the_server_sees_the_seal_and_leaves_it_alone(office: Office) -> None:
    later = an_organisation(id="org_two", name="Second Ltd", created_at=office.clock.now() + 1)
    second = await store_organisation(office.runtime.db, later)
    eve = await office.signed_in("Eve", MemberRole.OWNER, second.id)
    page = await eve.get(SEAL)
    assert "Only owners of the first organisation can change it." in page.said
    assert UPLOAD not in page.text and "Certificate history" not in page.said
    made = live(office)
    assert (await eve.get(UPLOAD)).to == SEAL
    assert (await eve.upload(UPLOAD, "file", ("own.p12", OWN.pkcs12(WORD)), passphrase=WORD)).status == 403
    for path in (BACK, NEW):
        assert (await eve.get(path)).to == SEAL and (await eve.post(path)).status == 403
    assert live(office) == made


async def test_what_is_configured_wins_and_the_page_says_so(tmp_path: Path) -> None:
    bundle = tmp_path / "own.p12"
    bundle.write_bytes(OWN.pkcs12("right"))
    async with an_office(tmp_path / "data", seal={"pkcs12": bundle, "passphrase": "right"}) as office:
        ada = await office.signed_in("Ada")
        page = await ada.get(SEAL)
        assert "which overrides any choice made here." in page.said
        assert "From the file in this server’s configuration" in page.said and UPLOAD not in page.text
        assert (await ada.get(UPLOAD)).to == SEAL
        refused = await ada.upload(UPLOAD, "file", ("other.p12", SERVER.pkcs12(WORD)), passphrase=WORD)
        assert refused.status == 403 and live(office) == OWN.der
        assert "is set in esign.toml" in (await ada.get("/server/seal")).said


async def test_the_authority_that_follows_can_be_fetched_before_it_is_used(office: Office) -> None:
    ada = await office.signed_in("Ada")
    assert (await ada.get("/authority-next.cer")).status == 404
    keyring = office.runtime.keyring
    first = keyring.authority.live.anchor_der
    for years in range(1, 9):
        keyring.refresh(NOW + int(years * 365.25 * 86_400_000))
        if keyring.authority.following:
            break
    assert keyring.authority.following not in (None, first)
    page = await ada.get(SEAL)
    assert "the seal comes from its successor" in page.said and "/authority-next.cer" in page.text
    async with office.site.session.get(f"{office.site.base}/authority-next.cer") as answer:
        assert await answer.read() == keyring.authority.following


async def test_who_changed_the_seal_is_kept_beside_it_with_time_and_address(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await upload_seal(ada, ("own.p12", OWN.pkcs12(WORD)), passphrase=WORD)
    await ada.post(BACK)
    changes = office.runtime.keyring.read_history()
    assert [one.deed for one in changes] == ["went back", "uploaded", "renewed"]
    assert (
        changes[1].who == "Ada <ada@example.test>" and changes[1].ip and changes[1].at == office.clock.now()
    )
    assert changes[1].fingerprint == sha256(OWN.der) and changes[2].who is None
    journal = folder(office) / "seal-changes.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"at": 1')
    assert office.runtime.keyring.read_history() == changes, "a line that a crash cut is passed over"

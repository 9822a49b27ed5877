"""The list of bad inputs (A1 to A20) over real sockets; those about a request and its body are here.

A1 size · A2 depth · A3 numbers · A4 members twice · A5 titles · A6 names · A7 addresses · A8 file names · A9 bombs ·
A10 what acts · A11 passwords and signatures · A12 webhook targets · A13 redirects · A14 names that change ·
A15 looks at a link · A16 another's fields · A17 repeats · A18 sign against cancel · A19 guessers · A20 keys.
"""

import asyncio
import gc
import hashlib
import io
import json
import os
import re
import traceback
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pikepdf
import pytest

from esign.actions.mail import embedded_outbox
from esign.core.errors import Problem
from esign.core.polyglot import is_pure
from esign.pdf.report import VerificationCase
from tests.api.site import Site, SiteAnswer, a_request, b64
from tests.core.test_polyglot import POLYGLOTS
from tests.journeys.api import until
from tests.journeys.letters import header
from tests.pdf import made
from tests.web.wire import Wire, request

pytestmark = pytest.mark.asyncio(loop_scope="module")

HERE = "tests/api/test_bad_input.py"
COVERED: dict[str, tuple[str, ...]] = {
    "A1": (
        f"{HERE}::test_a_body_over_the_limit_is_refused_before_all_of_it_is_read",
        f"{HERE}::test_who_stops_sending_reads_that_it_was_too_much",
    ),
    "A2": (
        f"{HERE}::test_what_is_not_plain_json_is_refused_at_once",
        f"{HERE}::test_depth_costs_nothing_and_ends_at_twenty",
    ),
    "A3": (
        f"{HERE}::test_what_is_not_plain_json_is_refused_at_once",
        f"{HERE}::test_a_whole_number_may_be_written_with_a_point",
    ),
    "A4": (f"{HERE}::test_what_is_not_plain_json_is_refused_at_once",),
    "A5": (
        f"{HERE}::test_what_is_not_plain_json_is_refused_at_once",
        f"{HERE}::test_a_title_is_text_of_two_hundred_characters",
        f"{HERE}::test_a_title_of_200_emoji_with_joiners_goes_all_the_way",
    ),
    "A6": (
        f"{HERE}::test_a_name_with_a_line_break_is_refused",
        f"{HERE}::test_a_name_made_for_headers_reaches_one_mailbox",
    ),
    "A7": (
        f"{HERE}::test_what_is_not_one_address_is_refused",
        f"{HERE}::test_255_characters_are_too_many_for_an_address",
        f"{HERE}::test_an_internationalised_address_gets_its_mail",
    ),
    "A8": (
        f"{HERE}::test_a_file_name_leads_nowhere",
        "tests/api/test_files.py::test_a_file_name_is_safely_quoted",
    ),
    "A9": (f"{HERE}::test_a_bomb_is_refused_soon_and_nobody_waits_for_it",),
    "A10": (
        f"{HERE}::test_what_acts_is_dropped_and_named_and_the_rest_is_sealed",
        f"{HERE}::test_dynamic_xfa_is_refused_and_named",
    ),
    "A11": (
        f"{HERE}::test_a_password_is_asked_for_in_a_sentence",
        f"{HERE}::test_what_acts_is_dropped_and_named_and_the_rest_is_sealed",
        f"{HERE}::test_a_file_that_was_ever_signed_is_refused",
    ),
    "A12": (
        "tests/api/test_webhooks.py::test_a_target_that_no_delivery_may_reach_is_refused",
        "tests/api/test_webhooks.py::test_a_base_address_in_the_world_allows_no_loopback_target",
    ),
    "A13": (
        "tests/journeys/test_webhooks.py::test_a_redirect_to_another_place_is_not_followed",
        "tests/net/test_outbound.py::test_a_redirect_is_an_answer_and_is_not_followed",
    ),
    "A14": (
        "tests/net/test_outbound.py::test_a_name_that_turns_private_after_its_registration_is_not_dialled",
        "tests/net/test_outbound.py::test_each_attempt_looks_a_name_up_once",
        "tests/journeys/test_webhooks.py::test_a_receiver_on_loopback_is_refused_once_the_installation_is_public",
    ),
    "A15": ("tests/api/test_signing.py::test_a_hundred_looks_at_a_link_change_nothing",),
    "A16": (
        "tests/api/test_signing.py::test_an_answer_that_does_not_fit_is_refused_and_nothing_is_stored",
        "tests/api/test_signing.py::test_another_s_field_is_as_foreign_as_an_unknown_one",
    ),
    "A17": (
        "tests/api/test_idempotency.py::test_fifty_at_once_make_one_document",
        "tests/api/test_idempotency.py::test_the_same_key_for_anything_else_is_a_conflict",
    ),
    "A18": (
        "tests/model/test_races.py::test_a_signature_and_what_would_prevent_it",
        "tests/api/test_ending.py::test_of_cancel_decline_completion_and_expiry_exactly_one_wins",
    ),
    "A19": (
        "tests/api/test_rates.py::test_guesses_from_one_address_are_throttled_whatever_it_says_of_itself",
        "tests/api/test_rates.py::test_through_a_trusted_proxy_the_address_it_vouches_for_counts",
        "tests/api/test_rates.py::test_from_anybody_else_the_header_means_nothing",
    ),
    "A20": (
        "tests/api/test_auth.py::test_a_missing_or_malformed_header_is_told_apart",
        "tests/api/test_auth.py::test_a_key_that_is_none_is_invalid",
        "tests/api/test_auth.py::test_the_query_is_never_read_for_a_key",
        "tests/api/test_auth.py::test_a_revoked_key_ends_with_the_next_request",
        "tests/api/test_auth.py::test_a_key_expires_to_the_millisecond",
        "tests/api/test_auth.py::test_a_test_environment_takes_only_test_keys",
        "tests/web/rest/test_auth.py::test_a_key_that_is_none_costs_no_statement_and_an_unknown_one_a_single_read",
        "tests/web/rest/test_auth.py::test_a_bad_shape_costs_less_than_five_milliseconds_of_work",
    ),
}
ROOT = Path(__file__).parents[2]


async def test_every_bad_input_of_the_list_has_its_tests() -> None:
    assert list(COVERED) == [f"A{number}" for number in range(1, 21)]
    for test in {test for tests in COVERED.values() for test in tests}:
        file, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / file).read_text(), test


JSON = {"Content-Type": "application/json"}


async def post(site: Site, raw: bytes | str) -> SiteAnswer:
    data = raw if isinstance(raw, bytes) else raw.encode()
    return await site.ask("POST", "/documents", data=data, headers=JSON)


async def create(site: Site, **changes: Any) -> SiteAnswer:
    return await site.ask("POST", "/documents", a_request(**changes))


async def with_file(site: Site, content: bytes) -> SiteAnswer:
    return await create(site, file=b64(content))


def resident() -> int:
    """Bytes of memory of this process, in which the server runs."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---------- A1: size ----------

ANNOUNCED, CHUNKED = "Content-Length: 40000000", "Transfer-Encoding: chunked"


@pytest.mark.parametrize("framing", [ANNOUNCED, CHUNKED])
async def test_a_body_over_the_limit_is_refused_before_all_of_it_is_read(site: Site, framing: str) -> None:
    lines = (f"Authorization: Bearer {site.key}", "Content-Type: application/json", framing)
    wire = await Wire.open(site.port)
    before = resident()
    await wire.write(request("POST", "/api/v1/documents", None, *lines))
    sent, most = 0, 36 * 2**20 + 64 * 2**10
    piece = b" " * 65_536
    try:
        while sent < 2 * most:
            await wire.write(b"%x\r\n%b\r\n" % (len(piece), piece) if framing == CHUNKED else piece)
            sent += len(piece)
    except ConnectionError:
        pass
    assert sent < most + 8 * 2**20  # what lies in the buffers of the sockets beside what was read
    assert resident() - before < 60 * 2**20
    await wire.close()


@pytest.mark.parametrize("framing", [ANNOUNCED, CHUNKED])
async def test_who_stops_sending_reads_that_it_was_too_much(site: Site, framing: str) -> None:
    lines = (f"Authorization: Bearer {site.key}", "Content-Type: application/json", framing)
    wire = await Wire.open(site.port)
    await wire.write(request("POST", "/api/v1/webhooks", None, *lines))
    if framing == CHUNKED:
        piece = b" " * 2**20
        await wire.write(b"%x\r\n%b\r\n" % (len(piece), piece) * 2)
    seen = await asyncio.wait_for(wire.read(), 5)
    assert seen.status == 400 and seen.code == "request_too_large" and seen.headers["connection"] == "close"
    await wire.close()


@pytest.mark.slow
async def test_a_file_over_the_limit_is_refused_by_its_size(site: Site) -> None:
    answer = await with_file(site, b"%PDF-1.7\n" + b"0" * (25 * 2**20))
    assert answer.code == "file_too_large" and "26,214,400" in answer.body["error"]["message"]


@pytest.mark.slow
async def test_a_large_file_is_taken(site: Site) -> None:
    with made.blank() as pdf:
        pdf.pages[0].obj.Resources.XObject = pikepdf.Dictionary(I=pdf.make_stream(os.urandom(20 * 2**20)))
        answer = await with_file(site, made.write_pdf(pdf, compress_streams=False))
    assert answer.status == 201, answer


# ---------- A2 to A4: JSON ----------

NO_JSON = {
    "nothing": b"",
    "a word": b"hello",
    "two values": b"{} {}",
    "half": b'{"title": "a"',
    "single quotes": b"{'title': 'a'}",
    "a comma too many": b'{"title": "a",}',
    "Latin-1": '{"title": "é"}'.encode("latin-1"),
    "UTF-16": '{"title": "a"}'.encode("utf-16"),
    "100,000 arrays": b"[" * 100_000 + b"]" * 100_000,
    "21 levels": b'{"a":' * 21 + b"1" + b"}" * 21,
    "5,000 digits": b'{"expiresInDays": ' + b"9" * 5_000 + b"}",
    "1e400": b'{"expiresInDays": 1e400}',
    "NaN": b'{"expiresInDays": NaN}',
    "Infinity": b'{"expiresInDays": -Infinity}',
    "a member twice": b'{"title": "a", "title": "b"}',
    "a member twice further down": b'{"recipients": [{"name": "a", "n\\u0061me": "b"}]}',
    "a lone surrogate": b'{"title": "\\ud800"}',
    "surrogates the wrong way round": b'{"title": "\\udc00\\ud800"}',
}


@pytest.mark.parametrize("raw", NO_JSON.values(), ids=NO_JSON)
async def test_what_is_not_plain_json_is_refused_at_once(site: Site, raw: bytes) -> None:
    answer = await asyncio.wait_for(post(site, raw), 2)
    assert answer.code == ("invalid_json" if raw else "invalid_request")


async def test_depth_costs_nothing_and_ends_at_twenty(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.get_running_loop()
    for raw in (b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 21 + b"1" + b"}" * 21):
        waits = []
        for _ in range(9):
            began = loop.time()
            assert (await post(site, raw)).code == "invalid_json"
            waits.append(loop.time() - began)
        assert sorted(waits)[4] < 0.05
    assert (await post(site, b'{"a":' * 20 + b"1" + b"}" * 20)).code == "invalid_request"
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("raw", ["null", "[]", '"text"', "5", "true"])
async def test_a_body_that_is_no_object_is_refused(site: Site, raw: str) -> None:
    answer = await post(site, raw)
    assert answer.places == {("", "type")}


@pytest.mark.parametrize(
    "raw, rule", [("-0", "range"), ("-0.0", "range"), ("30.0", ""), ("3e1", ""), ("300e-1", "")]
)
async def test_a_whole_number_may_be_written_with_a_point(site: Site, raw: str, rule: str) -> None:
    body = json.dumps(a_request())[:-1] + f', "expiresInDays": {raw}}}'
    answer = await post(site, body)
    if rule:
        assert answer.places == {("/expiresInDays", rule)}
    else:
        assert (await site.get(answer.body["id"]))["expiresInDays"] == 30


# ---------- A5 to A8: text, addresses, names ----------


@pytest.mark.parametrize(
    "title, rule", [("a\u0000b", "format"), ("a\nb", "format"), ("a" * 201, "length"), (" ", "length")]
)
async def test_a_title_is_text_of_two_hundred_characters(site: Site, title: str, rule: str) -> None:
    assert (await create(site, title=title)).places == {("/title", rule)}
    assert (await create(site, title="a" * 200)).status == 201


async def test_a_title_of_200_emoji_with_joiners_goes_all_the_way(site: Site) -> None:
    title = ("👩\u200d🌾" * 67)[:200]
    assert len(title) == 200
    completed = await site.complete_document(title=title)
    assert completed["title"] == title
    sealed = await site.bytes_of(completed["id"], "sealed")
    verdict = await site.runtime.pdf.verify(
        sealed, VerificationCase((), site.clock.now(), site.runtime.roots)
    )
    assert verdict["result"] == "valid"


@pytest.mark.parametrize(
    "name",
    [
        "Bob\r\nBcc: evil@x.test",
        "Bob\nBcc: evil@x.test",
        "Bob\u2028Eve",
        "Bob\u0085Eve",
        "Bob\x00",
        "Bob\x7f",
    ],
)
async def test_a_name_with_a_line_break_is_refused(site: Site, name: str) -> None:
    answer = await create(site, recipients=[site.signer(name=name)])
    assert answer.places == {("/recipients/0/name", "format")}


async def test_a_name_made_for_headers_reaches_one_mailbox(site: Site) -> None:
    """What no rule forbids in a name is data all the same."""
    signer = site.signer(name='Eve" <evil@x.test>, "Bob, evil@x.test; =?utf-8?q?Bcc=3A?=')
    subject = "Re: =?utf-8?q?=0D=0ABcc=3A_evil=40x.test?= \\r\\nBcc: evil@x.test"
    await site.send_document(recipients=[signer], subject=subject)
    await site.person(signer["email"])
    [kept] = [mail for mail in await mails(site) if signer["email"] in mail["To"]]
    assert [address.addr_spec for address in kept["To"].addresses] == [signer["email"]]
    assert kept["Bcc"] is None and kept["Cc"] is None
    assert "\n" not in header(kept.as_bytes(policy=kept.policy.clone(linesep="\r\n")), "Subject")


async def mails(site: Site) -> list[Any]:
    found = [
        await embedded_outbox.read_mail(site.runtime.db, site.runtime.vault, mail.id)
        for mail in await embedded_outbox.list_mails(site.runtime.db, 100)
    ]
    return [mail for mail in found if mail is not None]


NO_ADDRESS = [
    "a@b.test,c@d.test",
    "a@b.test;c@d.test",
    '"a@b.test>,<c"@d.test',
    "a@[127.0.0.1]",
    "a@b",
    "a@b.test\r\nBcc: c@d.test",
    "Ada <a@b.test>",
    "<a@b.test>",
    "a b@c.test",
    "a@b..test",
    "a@.test",
    "a@-b.test",
    "@b.test",
    "a@",
    "a.@b.test",
    "a@b.test.",
    "a@1.2.3.4",
    "a" * 65 + "@b.test",
]


@pytest.mark.parametrize("address", NO_ADDRESS)
async def test_what_is_not_one_address_is_refused(site: Site, address: str) -> None:
    answer = await create(site, recipients=[{"name": "Ada", "email": address}])
    assert answer.places == {("/recipients/0/email", "format")}


async def test_255_characters_are_too_many_for_an_address(site: Site) -> None:
    address = "a@" + ".".join(["b" * 60] * 4) + ".testtest"
    assert len(address) == 254
    assert (await create(site, recipients=[{"name": "Ada", "email": address}])).status == 201
    answer = await create(site, recipients=[{"name": "Ada", "email": address + "s"}])
    assert answer.places == {("/recipients/0/email", "length")}


async def test_an_internationalised_address_gets_its_mail(site: Site) -> None:
    assert (await create(site, recipients=[{"name": "Ü", "email": "ü@例え.jp"}])).status == 201
    document = await site.send_document(recipients=[{"name": "Ü", "email": "ü@größe.example"}])
    assert document["recipients"][0]["email"] == "ü@größe.example"

    async def find_accepted() -> Any:
        found = (await site.get(document["id"]))["recipients"][0]["delivery"]
        return found if found["status"] == "none" else None

    assert (await until(find_accepted, "mail"))["error"] is None


@pytest.mark.parametrize("name", ["../../etc/passwd", "..\\..\\boot.ini", "a\u0000.pdf", "..", "a\r\nb.pdf"])
async def test_a_file_name_leads_nowhere(site: Site, name: str) -> None:
    answer = await create(site, fileName=name)
    assert answer.places == {("/fileName", "format")}


# ---------- A9 to A11: files ----------

NO_PDF: dict[str, bytes] = {
    "nothing": b"",
    "text": b"hello",
    "a picture": b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
    "only a head": b"%PDF-1.7\n",
    "a head and noise": b"%PDF-1.7\n" + bytes(range(256)) * 10,
    "half a file": made.plain()[: len(made.plain()) // 2],
}


@pytest.mark.parametrize("content", NO_PDF.values(), ids=NO_PDF)
async def test_what_is_no_pdf_is_refused_with_a_sentence(site: Site, content: bytes) -> None:
    answer = await with_file(site, content)
    assert answer.code == "invalid_file" and len(answer.body["error"]["message"]) > 20


NO_BASE64 = {
    "a letter outside the alphabet": b64(made.plain())[:-4] + "!aA=",
    "the alphabet of URLs": "-_-_",
    "no padding": b64(b"%PDF-1")[:-1] + "A=A",
    "too little padding": b64(b"%PDF-1.70")[:-1],
    "bits behind the last byte": b64(made.plain()[: len(made.plain()) // 3 * 3] + b"\n").replace(
        "Cg==", "Ch=="
    ),
    "not ASCII": "é" * 4,
    "another data URL": "data:text/plain;base64," + b64(made.plain()),
}


@pytest.mark.parametrize("text", NO_BASE64.values(), ids=NO_BASE64)
async def test_what_is_no_base64_is_refused(site: Site, text: str) -> None:
    assert (await create(site, file=text)).code == "invalid_file"


async def test_line_breaks_and_a_data_url_are_tolerated(site: Site) -> None:
    text = b64(made.plain())
    folded = "\r\n".join(text[at : at + 76] for at in range(0, len(text), 76))
    for spelt in (
        folded,
        "data:application/pdf;base64," + text,
        f"\n data:application/pdf;base64,{folded}\n",
    ):
        document = await site.create_draft(file=spelt)
        assert await site.bytes_of(document["id"], "original") == made.plain()


def bomb() -> bytes:
    """Two nested layers of Flate around a page that would unfold to 1 GiB."""
    piece, pieces, check = b" " * 2**20, 1024, 1
    layer = zlib.compressobj(9, wbits=-15)
    block = layer.compress(piece) + layer.flush(zlib.Z_FULL_FLUSH)  # stands for itself, so it may be repeated
    for _ in range(pieces):
        check = zlib.adler32(piece, check)
    inner = b"\x78\xda" + block * pieces + layer.flush() + check.to_bytes(4, "big")
    with made.blank() as pdf:
        stream = pikepdf.Stream(pdf, zlib.compress(inner, 9))
        stream.Filter = pikepdf.Array([pikepdf.Name.FlateDecode] * 2)
        pdf.pages[0].obj.Contents = pdf.make_indirect(stream)
        return made.write_pdf(pdf, stream_decode_level=pikepdf.StreamDecodeLevel.none, compress_streams=False)


@pytest.mark.slow
async def test_a_bomb_is_refused_soon_and_nobody_waits_for_it(site: Site) -> None:
    content = await asyncio.to_thread(bomb)
    assert len(content) < 5_000
    loop = asyncio.get_running_loop()
    began = loop.time()
    bombing = asyncio.create_task(with_file(site, content))
    waits = []
    while not bombing.done():
        asked = loop.time()
        async with site.session.get(f"{site.base}/healthz") as answer:
            assert answer.status == 200
        waits.append(loop.time() - asked)
        await asyncio.sleep(0.005)
    assert (await bombing).code == "invalid_file" and loop.time() - began < 5
    assert max(waits) < 0.5


ACTIVE: dict[str, tuple[Callable[[], bytes], set[str]]] = {
    "scripts": (made.make_scripted, {"scripts"}),
    "a program to launch": (made.launching, {"actions"}),
    "an attachment": (made.attaching, {"attachments"}),
    "an owner's restrictions": (made.make_restricted, {"restrictions"}),
    "a film": (made.playing, {"multimedia"}),
}


@pytest.mark.parametrize("make, words", ACTIVE.values(), ids=ACTIVE)
async def test_what_acts_is_dropped_and_named_and_the_rest_is_sealed(
    site: Site, make: Callable[[], bytes], words: set[str]
) -> None:
    completed = await site.complete_document(file=b64(make()))
    assert set(completed["file"]["removed"]) == words
    [created] = [entry for entry in await site.trail(completed["id"]) if entry["seq"] == 1]
    assert set(created["data"]["removed"]) == words
    sealed = await site.bytes_of(completed["id"], "sealed")
    with pikepdf.open(io.BytesIO(sealed)) as pdf:
        plain = io.BytesIO()  # compressed streams may hold any three letters by chance
        pdf.save(plain, stream_decode_level=pikepdf.StreamDecodeLevel.generalized, compress_streams=False)
        names = set(re.findall(rb"/\w+", plain.getvalue()))
        assert not names & {b"/JavaScript", b"/JS", b"/Launch", b"/RichMedia", b"/OpenAction", b"/Encrypt"}
        assert b"MZ not" not in plain.getvalue()
        assert list(pdf.attachments) == ["audit.json"] and not pdf.is_encrypted
        held = [
            item
            for item in pdf.objects
            if isinstance(item, pikepdf.Stream) and item.get("/Type") == "/EmbeddedFile"
        ]
        assert held == [pdf.Root.Names.EmbeddedFiles.Names[1].EF.F], "our own and no other"
    verdict = await site.runtime.pdf.verify(
        sealed, VerificationCase((), site.clock.now(), site.runtime.roots)
    )
    assert verdict["result"] == "valid"


async def test_dynamic_xfa_is_refused_and_named(site: Site) -> None:
    answer = await with_file(site, made.dynamic_form())
    assert answer.code == "file_unsupported" and "XFA" in answer.body["error"]["message"]
    assert {path for path, _ in answer.places} == {"/file"}


@pytest.mark.parametrize("make", [made.make_signed, made.make_cleared])
async def test_a_file_that_was_ever_signed_is_refused(site: Site, make: Callable[[], bytes]) -> None:
    content = await asyncio.to_thread(make)  # signing runs a loop of its own
    assert (await with_file(site, content)).code == "file_signed"


async def test_a_password_is_asked_for_in_a_sentence(site: Site) -> None:
    answer = await with_file(site, made.make_locked())
    assert answer.code == "file_encrypted" and "password" in answer.body["error"]["message"]


async def test_a_disordered_file_is_mended_and_says_so(site: Site) -> None:
    assert (await site.create_draft(file=b64(made.make_disordered())))["file"]["repaired"] is True


@pytest.mark.slow
async def test_pages_have_their_limit(site: Site) -> None:
    assert (await site.create_draft(file=b64(made.write_pdf(made.blank(500)))))["pageCount"] == 500
    assert (await with_file(site, made.write_pdf(made.blank(501)))).code == "too_many_pages"


SIZES = {
    (3, 3): "201",
    (2.9, 3): "file_unsupported",
    (14_400, 288): "201",
    (14_401, 300): "file_unsupported",
    (3_000, 59): "file_unsupported",
}


@pytest.mark.parametrize("size, code", SIZES.items(), ids=str)
async def test_a_page_has_sides_that_can_be_shown(site: Site, size: tuple[float, float], code: str) -> None:
    with made.blank() as pdf:
        pdf.pages[0].obj.MediaBox = pikepdf.Array([0, 0, *size])
        answer = await with_file(site, made.write_pdf(pdf))
    assert answer.code == code


@pytest.mark.parametrize("kind", POLYGLOTS)
async def test_what_is_also_another_format_is_kept_and_served_as_a_plain_pdf_alone(
    site: Site, kind: str
) -> None:
    document = await site.create_draft(file=b64(POLYGLOTS[kind]))
    assert document["file"]["removed"] == ["foreign data"]
    served = await site.bytes_of(document["id"], "original")
    assert served.startswith(b"%PDF-") and is_pure(served) and b"<script" not in served
    assert hashlib.sha256(served).hexdigest() == document["fileSha256"]
    assert not zipfile.is_zipfile(io.BytesIO(served))


@pytest.mark.parametrize("limit", ["01", "00", "+1", "1.0", " 1", "1_0", "٣", "0x1", "1e1", "", "0001"])
async def test_a_number_in_a_query_has_one_spelling(site: Site, limit: str) -> None:
    answer = await site.ask("GET", f"/documents?limit={quote(limit)}")
    assert answer.code == "invalid_request" and answer.body["error"]["details"][0]["path"] == "?limit"
    assert (await site.ask("GET", "/documents?limit=1")).status == 200


async def test_a_file_that_was_refused_is_not_kept_until_garbage_is_collected(site: Site) -> None:
    file = b64(b"%PDF-1.7 and nothing more")
    assert (await site.ask("POST", "/documents", a_request(file=file))).code == "invalid_file"
    gc.collect()
    gc.disable()
    try:
        before = list_problems()
        for _ in range(3):
            assert (await site.ask("POST", "/documents", a_request(file=file))).code == "invalid_file"
        await asyncio.sleep(0)
        assert list_problems() == before
    finally:
        gc.enable()


def list_problems() -> list[str]:
    """Return the code of each problem that is in memory, with where it came from."""
    found = (thing for thing in gc.get_objects() if isinstance(thing, Problem))
    return sorted(f"{problem.code} {traceback.format_tb(problem.__traceback__)}" for problem in found)

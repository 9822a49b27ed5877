"""The logo of an organisation: sent in the browser, shown to everybody who is asked, taken away again."""

import re
from email.message import EmailMessage
from io import BytesIO

import pikepdf
import pytest
from PIL import Image

from esign.actions.mail import embedded_outbox
from esign.core.people.member import MemberRole
from esign.core.people.user import FRESH
from tests.logos import a_logo, draw_logo, file_of
from tests.mail.server import serving
from tests.web.office.visitor import Office, Visitor

ORGANISATION, LOGO, REMOVE = (
    "/settings/organisation",
    "/settings/organisation/logo",
    "/settings/organisation/logo/remove",
)
ADDRESS = re.compile(r'src="(/logo/[0-9a-f]{64}\.png)"')


async def upload_logo(ada: Visitor, *files: bytes) -> str:
    """The address of the logo, once it is saved."""
    await ada.get(LOGO)
    for file in files:
        shown = await ada.upload(LOGO, "file", ("logo.png", file))
        assert shown.title == "Save this logo?", shown.said
        answer = await ada.upload(LOGO, "file", picture=shown.value("picture"))
        assert answer.to == f"{ORGANISATION}?done=logo", answer.said
    page = await ada.get(ORGANISATION)
    found = ADDRESS.search(page.text)
    assert found, page.said
    return found[1]


async def newest(office: Office) -> EmailMessage:
    await office.site.work("mail")
    mails = await embedded_outbox.list_mails(office.runtime.db, 1000)
    message = await embedded_outbox.read_mail(office.runtime.db, office.runtime.vault, mails[-1].id)
    assert message is not None
    return message


def pictures(message: EmailMessage) -> list[EmailMessage]:
    return [part for part in message.walk() if part.get_content_type() == "image/png"]


def drawn_in(pdf: bytes) -> set[tuple[int, int]]:
    """The sizes of the pictures in a file."""
    with pikepdf.open(BytesIO(pdf)) as opened:
        images = [one for one in opened.objects if isinstance(one, pikepdf.Stream)]
        return {(int(one.Width), int(one.Height)) for one in images if one.get("/Subtype") == "/Image"}


async def test_everybody_who_is_asked_sees_the_logo_until_it_is_removed(office: Office) -> None:
    ada, site = await office.signed_in("Ada"), office.site
    assert "Add logo" in (await ada.get(ORGANISATION)).said
    address = await upload_logo(ada, a_logo())
    async with site.session.get(f"{site.base}{address}") as answer:
        content, headers = await answer.read(), answer.headers
    image = Image.open(BytesIO(content))
    assert (headers["Content-Type"], headers["Cache-Control"]) == (
        "image/png",
        "public, max-age=31536000, immutable",
    )
    assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert headers["X-Content-Type-Options"] == "nosniff" and "Set-Cookie" not in headers

    document = await site.api.send_document()
    message = await newest(office)
    [inline] = pictures(message)
    html = message.get_body(("html",))
    assert html is not None and inline.get_payload(decode=True) == content
    assert f'src="cid:{inline["Content-ID"][1:-1]}"' in html.get_content()
    assert 'alt="esign"' in html.get_content() and "cid:" not in str(message.get_body(("plain",)))
    person = await site.person("ada@example.test")
    page = str((await person.open()).content)
    assert address in page and 'alt="esign"' in page and 'class="mark"' not in page
    assert "<b>esign</b>" not in page.partition("</header>")[0], "a wide logo has the name in it"
    await site.all_sign(document)
    await site.work("seal")
    sealed = await site.api.file(document, "certificate")
    assert image.size in drawn_in(sealed)

    question = await ada.get(REMOVE)
    assert question.title == "Remove logo?"
    assert (await ada.post(REMOVE)).to == f"{ORGANISATION}?done=logo-removed"
    async with site.session.get(f"{site.base}{address}") as answer:
        assert answer.status == 404
    page = str((await person.open()).content)
    assert "/logo/" not in page and 'class="mark"' in page
    await site.api.send_document()
    assert pictures(await newest(office)) == []
    assert (await ada.get(REMOVE)).to == ORGANISATION, "there is nothing to ask about"


async def test_another_logo_has_another_address_and_of_two_alike_one_stays(office: Office) -> None:
    ada = await office.signed_in("Ada")
    first = await upload_logo(ada, a_logo())
    assert await upload_logo(ada, a_logo()) == first
    second = await upload_logo(ada, a_logo(400, 220))
    assert second != first
    async with office.site.session.get(f"{office.site.base}{first}") as answer:
        assert answer.status == 404


@pytest.mark.parametrize(
    ("file", "status", "sentence"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 422, "SVG isn’t supported"),
        (file_of(draw_logo(), "WEBP"), 422, "Choose a PNG or JPEG picture."),
        (a_logo()[:400], 422, "damaged"),
        (b"\x89PNG" + b"x" * (2**20 - 2), 422, "larger than 1 MB"),
        (b"\x89PNG" + b"x" * 2**21, 400, "The limit is 1 MB."),
    ],
    ids=["SVG", "WebP", "damaged", "large", "larger"],
)
async def test_what_is_no_logo_is_refused_at_its_field(
    office: Office, file: bytes, status: int, sentence: str
) -> None:
    ada = await office.signed_in("Ada")
    address = await upload_logo(ada, a_logo())
    await ada.get(LOGO)
    page = await ada.upload(LOGO, "file", ("logo.png", file))
    assert page.status == status and sentence in page.wrong()["file"], page.said
    assert address in (await ada.get(ORGANISATION)).text, "the one before stays"


async def test_a_logo_is_shown_where_recipients_see_it_before_it_is_saved(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await ada.get(LOGO)
    wide = await ada.upload(LOGO, "file", ("logo.png", a_logo()))
    for place in ("Signing page", "Signing page in dark mode", "Email", "Certificate page"):
        assert f"<figcaption>{place}</figcaption>" in wide.text
    assert wide.text.count('src="data:image/png;base64,') == 4
    assert '<b class="any"' not in wide.text, "the name is in the logo"
    assert "Add logo" in (await ada.get(ORGANISATION)).said, "nothing is saved yet"
    narrow = await ada.upload(LOGO, "file", ("logo.png", a_logo(400, 220)))
    assert narrow.text.count('<b class="any"') == 1


@pytest.mark.parametrize("picture", ["", "no base64!", "AAAA"])
async def test_a_preview_that_was_tampered_with_saves_nothing(office: Office, picture: str) -> None:
    ada = await office.signed_in("Ada")
    await ada.get(LOGO)
    page = await ada.upload(LOGO, "file", picture=picture)
    assert (page.status, set(page.wrong())) == (422, {"file"})
    assert "Add logo" in (await ada.get(ORGANISATION)).said


async def test_without_a_file_the_field_says_so(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await ada.get(LOGO)
    assert (await ada.upload(LOGO, "file")).wrong() == {"file": "Choose a picture."}


async def test_the_password_is_asked_for_before_the_file_is_chosen(office: Office) -> None:
    ada = await office.signed_in("Ada", MemberRole.ADMIN)
    await ada.get(LOGO)
    office.clock.advance(milliseconds=FRESH)
    assert (await ada.get(LOGO)).to == f"/confirm?next={LOGO.replace('/', '%2F')}"
    assert (await ada.upload(LOGO, "file", ("logo.png", a_logo()))).to.startswith("/confirm?next=")
    assert "Add logo" in (await ada.get(ORGANISATION)).said


async def test_the_practice_page_and_the_test_mail_carry_it_too(office: Office) -> None:
    ada = await office.signed_in("Ada")
    await upload_logo(ada, a_logo())
    assert "The test page was sealed and verified." in (await ada.post("/settings/seal")).said
    async with serving() as server:
        typed = {"host": "127.0.0.1", "port": str(server.port), "security": "none", "from": "a@example.test"}
        await ada.get("/server/mail")
        await ada.post("/server/mail/test", typed)
        [message] = server.messages
    assert len(pictures(message)) == 1

"""In which language somebody reads who is not signed in."""

import pytest

from tests.web.office.visitor import Office


@pytest.mark.parametrize(
    ("accepted", "lang"), [("de-AT,en;q=0.5", "de"), ("ar", "ar"), ("tlh", "en"), ("", "en")]
)
async def test_a_public_page_goes_by_the_browser(office: Office, accepted: str, lang: str) -> None:
    page = await office.visitor().get("/sign-in", {"Accept-Language": accepted})
    assert f'<html lang="{lang}" dir="{"rtl" if lang == "ar" else "ltr"}">' in page.text


async def test_a_language_that_was_chosen_on_a_public_page_is_kept_in_a_cookie(office: Office) -> None:
    visitor = office.visitor()
    page = await visitor.post("/language", {"locale": "ja", "next": "/verify"})
    assert page.to == "/verify"
    cookie = page.cookies["esign-language"]
    assert (cookie.value, cookie["httponly"], cookie["samesite"]) == ("ja", True, "lax")
    shown = await visitor.get("/verify", {"Cookie": "esign-language=ja", "Accept-Language": "de"})
    assert '<html lang="ja"' in shown.text


@pytest.mark.parametrize("cookie", ["tlh", "../../etc/passwd", "EN", ""])
async def test_a_cookie_that_names_no_language_is_ignored(office: Office, cookie: str) -> None:
    shown = await office.visitor().get("/verify", {"Cookie": f"esign-language={cookie}"})
    assert '<html lang="en"' in shown.text


async def test_it_leads_to_no_other_site(office: Office) -> None:
    page = await office.visitor().post("/language", {"locale": "de", "next": "//evil.example/"})
    assert page.to == "/"

"""Every page in every language, and which of them a reader gets."""

import re
from dataclasses import replace
from html import unescape

import pytest

from esign.core.document import consent
from esign.core.document.challenge import ChallengeStanding, ChallengeStep
from esign.core.document.document import Role
from esign.core.instant import MINUTE, parse
from esign.core.language import LANGUAGES
from esign.web.signing.words import WordLibrary
from tests.web.signing.client import LINK, SigningClient
from tests.web.signing.site import NOW, STATES, SigningSite, a_document, a_recipient, all_fields, other

PAGES = {
    "open": ("open", a_document()),
    "approve": ("open", a_document(a_recipient((), role=Role.APPROVER), other())),
    "read": ("open", a_document(a_recipient((), role=Role.VIEWER), other())),
    **STATES,
}
STANDINGS = [
    ("email_code", ChallengeStanding(ChallengeStep.ASK, 5)),
    ("email_code", ChallengeStanding(ChallengeStep.ENTER, 5)),
    ("email_code", ChallengeStanding(ChallengeStep.SPENT, 0, NOW + 30 * MINUTE)),
    ("access_code", ChallengeStanding(ChallengeStep.ENTER, 5)),
    ("access_code", ChallengeStanding(ChallengeStep.WAIT, 0, NOW + 14 * MINUTE)),
    ("access_code", ChallengeStanding(ChallengeStep.BLOCKED, 0)),
]
LIBRARY = WordLibrary.load()


async def page(site: SigningSite, query: str = "", accept: str | None = None) -> str:
    headers = {"accept-language": accept} if accept else {}
    seen = await SigningClient(site).ask(path=LINK + query, headers=headers)
    assert seen.status == 200
    return seen.body.decode()


def find_language(html: str) -> str:
    """The language that the page says it is in."""
    found = re.search(r'<html lang="(\w+)" dir="(\w+)">', html)
    assert found is not None and found[2] == LANGUAGES[found[1]].direction
    return found[1]


@pytest.mark.parametrize("tag", LANGUAGES)
@pytest.mark.parametrize("name", PAGES)
async def test_every_page_is_there_in_every_language(name: str, tag: str) -> None:
    state, document = PAGES[name]
    html = await page(SigningSite(document, state), f"?lang={tag}")
    assert find_language(html) == tag
    assert f'<a href="?lang={tag}" lang="{tag}" hreflang="{tag}"' in html
    assert len(re.findall(r'href="\?lang=', html)) == len(LANGUAGES)
    assert str(LIBRARY.choose(tag)("language")) in html
    assert not re.search(
        r"\{(?:n|name|title|date|sender|names|email|total)\}", html.split('<template id="words">')[0]
    )


@pytest.mark.parametrize("tag", LANGUAGES)
async def test_the_page_before_a_code_is_there_in_every_language(tag: str) -> None:
    for method, standing in STANDINGS:
        me = a_recipient(all_fields(), authentication=method)
        site = SigningSite(a_document(me, other()), "code")
        site.standing = standing
        assert find_language(await page(site, f"?lang={tag}")) == tag


@pytest.mark.parametrize(
    ("query", "recipient", "document", "accept", "expected"),
    [
        ("?lang=ja", "de", "fr", "pl", "ja"),
        ("?lang=xx", "de", "fr", "pl", "de"),
        ("", None, "fr", "pl", "fr"),
        ("", None, None, "pl,en;q=0.5", "pl"),
        ("", None, None, "ko", "en"),
        ("", None, None, None, "en"),
    ],
)
async def test_the_reader_s_choice_comes_first_and_the_organisation_s_last(
    query: str, recipient: str | None, document: str | None, accept: str | None, expected: str
) -> None:
    me = replace(a_recipient(all_fields()), locale=recipient)
    shown = replace(a_document(me, other()), locale=document)
    assert find_language(await page(SigningSite(shown), query, accept)) == expected


@pytest.mark.parametrize(("query", "expected"), [("", "ar"), ("?lang=nl", "nl")])
async def test_a_link_that_leads_nowhere_answers_in_the_browser_s_language(query: str, expected: str) -> None:
    state, document = STATES["unknown"]
    assert find_language(await page(SigningSite(document, state), query, "ar-EG,ar;q=0.9")) == expected


@pytest.mark.parametrize("tag", LANGUAGES)
async def test_the_sentence_agreed_to_and_its_hash_are_of_the_language_shown(tag: str) -> None:
    html = unescape(await page(SigningSite(a_document()), f"?lang={tag}"))
    assert f'data-consent="{consent.hash_wording(tag)}"' in html
    assert consent.write_agreement(tag, a_document().title) in html


@pytest.mark.parametrize(
    ("tag", "day", "moment", "size", "number"),
    [
        ("en", "1 March 2027", "1 March 2027, 14:05", "1.3 MB", "3.5"),
        ("de", "1. März 2027", "1. März 2027, 14:05 Uhr", "1,3 MB", "3,5"),
        ("fr", "1 mars 2027", "1 mars 2027 à 14:05", "1,3 Mo", "3,5"),
        ("es", "1 de marzo de 2027", "1 de marzo de 2027, 14:05", "1,3 MB", "3,5"),
        ("pl", "1 marca 2027", "1 marca 2027, 14:05", "1,3 MB", "3,5"),
        ("ja", "2027年3月1日", "2027年3月1日 14:05", "1.3 MB", "3.5"),
        ("ar", "1 مارس 2027", "1 مارس 2027، 14:05", "1.3 ميغابايت", "3.5"),
    ],
)
def test_days_times_and_numbers_are_written_as_the_language_does(
    tag: str, day: str, moment: str, size: str, number: str
) -> None:
    words, at = LIBRARY.choose(tag), parse("2027-03-01T14:05:00Z")
    assert (words.date(at, "UTC"), words.moment(at, "UTC")) == (day, moment)
    assert (words.size(1_300_000), words.number(3.5)) == (size, number)

"""Reading over HTTP: sharper pictures, what others have filled in, text; and nothing of those who have not finished."""

import io
from typing import Any

import pytest
from PIL import Image

from esign.app import PICTURES
from esign.store.document import documents
from tests.api.site import Site, SiteAnswer, gather
from tests.journeys.api import Person, a_signature

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAME = {"type": "name", "page": 1, "x": 10, "y": 20, "width": 40, "height": 5}
SIGN = {"type": "signature", "page": 1, "x": 10, "y": 60, "width": 40, "height": 8}


async def two(site: Site, *, together: bool = False) -> tuple[Any, Person, Person]:
    """A document for two signers, the second after the first or at the same time."""
    people = [site.signer(order=1 if together else n + 1, fields=[NAME, SIGN]) for n in range(2)]
    document = await site.send_document(recipients=people)
    first = await site.person(people[0]["email"])
    if not together:
        await sign(site, document, first)
    return document, first, await site.person(people[1]["email"])


async def sign(site: Site, document: Any, person: Person) -> None:
    """Fill in what the first recipient is asked for."""
    mine = (await site.get(document["id"]))["recipients"][0]["fields"]
    given = {"signature": a_signature(), "name": "Ada Lovelace"}
    await person.sign({field["id"]: given[field["type"]] for field in mine})


def picture(answer: SiteAnswer) -> Image.Image:
    assert answer.status == 200, answer
    return Image.open(io.BytesIO(answer.content))


async def views(site: Site, document: Any) -> list[str]:
    """The pictures with values of this document that are stored."""
    folder = site.runtime.config.storage.data_dir / PICTURES
    return sorted(one.name for one in (folder / document["id"]).glob("*"))


async def get(person: Person, path: str) -> SiteAnswer:
    seen = await person.get(path)
    return SiteAnswer(seen.status, seen.headers, seen.content)


async def test_a_sharper_picture_is_made_once_however_many_ask(site: Site) -> None:
    document, person, _ = await two(site, together=True)
    first = picture(await get(person, "/pages/1.webp"))
    seen = await gather(*(get(person, "/pages/1.webp?size=2") for _ in range(8)))
    assert {picture(one).width for one in seen} <= {2 * first.width + n for n in (-1, 0, 1)}
    assert await views(site, document) == []  # they lie on the shelf of the file
    assert (await get(person, "/pages/1.webp?size=4")).code == "not_found"
    assert (await get(person, "/pages/9.webp?size=2")).code == "not_found"


async def test_what_somebody_filled_in_is_seen_by_the_next(site: Site) -> None:
    _, _, second = await two(site)
    page = (await get(second, "")).content.decode()
    assert "/pages/1/filled-1.webp" in page
    over = picture(await get(second, "/pages/1/filled-1.webp")).convert("RGBA")
    drawn = over.getchannel("A").getbbox()
    assert drawn is not None
    assert drawn[1] > 0.18 * over.height and drawn[3] < 0.7 * over.height


async def test_nothing_of_somebody_who_has_not_finished_is_shown(site: Site) -> None:
    document, first, second = await two(site, together=True)
    for person in (first, second):
        assert "filled-" not in (await get(person, "")).content.decode()
        for done in (0, 1, 2):
            assert (await get(person, f"/pages/1/filled-{done}.webp")).status == 404
    await sign(site, document, first)
    assert (await get(second, "/pages/1/filled-1.webp")).status == 200
    assert (await get(second, "/pages/1/filled-2.webp")).status == 404


async def test_the_text_of_a_page_is_read(site: Site) -> None:
    _, person, _ = await two(site, together=True)
    found = await get(person, "/pages/1.json")
    assert found.status == 200 and isinstance(found.body["paragraphs"], list)
    assert found.headers["cache-control"] == "private, max-age=86400, immutable"
    assert (await get(person, "/pages/2.json")).status == 404


async def test_a_link_that_shows_no_pages_shows_none_of_it(site: Site) -> None:
    people = [site.signer(order=n + 1, fields=[NAME, SIGN]) for n in range(2)]
    document = await site.send_document(recipients=people)
    first = await site.person(people[0]["email"])
    await first.decline("No.")
    for path in ("/pages/1.webp?size=2", "/pages/1/filled-1.webp", "/pages/1.json"):
        assert (await get(first, path)).status == 404
    assert await views(site, document) == []


async def test_what_was_made_goes_with_its_document(site: Site) -> None:
    document, person, _ = await two(site, together=True)
    await gather(get(person, "/pages/1.webp?size=2"), get(person, "/pages/1.json"))
    file = (await documents.get(site.runtime.db, document["id"])).file
    assert site.runtime.pictures.has(file.prepared, "1.2") and site.runtime.pictures.has(
        file.prepared, "1.text"
    )
    await sign(site, document, person)
    assert (await get(person, "")).status == 200

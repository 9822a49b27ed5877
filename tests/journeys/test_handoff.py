"""A signature drawn on a phone for the page at a desk, at a running server: proposed, once, for ten minutes."""

import base64
import io
import re
from importlib import resources
from typing import Any

import pytest
from PIL import Image

from esign.actions.mail import embedded_outbox
from esign.core.instant import MINUTE
from esign.jobs import prune
from esign.web.http.request_guard import mask_path
from tests.fakes import FakeClock
from tests.journeys.api import Answer, Person
from tests.journeys.letters import part
from tests.journeys.site import JourneySite
from tests.store.files import stored_bytes

ADA = {"name": "Ada Lovelace", "email": "ada@example.test"}
BO = {"name": "Bo Weber", "email": "bo@example.test"}
DRAWN = resources.files("esign.demo").joinpath("signature.png").read_bytes()
PICTURE = f"data:image/png;base64,{base64.b64encode(DRAWN).decode()}"


async def at_the_desk(site: JourneySite, **more: Any) -> tuple[str, Person]:
    """A document sent to Ada and Bo at once, and Ada."""
    document = await site.api.send_document(recipients=[{**ADA, **more}, BO])
    await site.work("mail")
    return document, await site.person(ADA["email"])


async def offer_handoff(site: JourneySite, desk: Person, kind: str = "signature") -> tuple[str, Person]:
    """The name of the handoff at the desk, and whoever scans its code."""
    answer = await desk.post("handoff", {"kind": kind})
    assert answer.status == 200, answer.content
    assert answer.body["seconds"] == 600
    assert base64.b64decode(answer.body["code"].partition(",")[2]).startswith(b"<svg")
    return answer.body["id"], Person(site.session, answer.body["address"])


async def progress(desk: Person, id: str) -> Any:
    return (await desk.get(f"/handoff/{id}")).body


async def send(phone: Person, picture: Any = PICTURE) -> Answer:
    return await phone.post("ink", {"picture": picture})


async def view(phone: Person) -> str:
    """What the page of the phone says in its heading."""
    answer = await phone.open()
    found = re.search(r"<h1[^>]*>(.*?)</h1>", answer.content.decode())
    assert answer.status == 200 and found
    return found[1]


async def list_pictures(site: JourneySite) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in await site.runtime.db.all("SELECT * FROM handoff")]


async def test_what_a_phone_draws_waits_at_the_desk_and_signs_nothing(site: JourneySite) -> None:
    document, desk = await at_the_desk(site)
    before = await site.api.trail(document)
    id, phone = await offer_handoff(site, desk)
    assert await progress(desk, id) == {"state": "waiting", "picture": None}
    assert await view(phone) == "Draw your signature"
    assert (await phone.post("open", {})).body == {"state": "open"}
    assert await progress(desk, id) == {"state": "opened", "picture": None}
    assert (await send(phone)).body == {"state": "sent"}
    come = await progress(desk, id)
    assert come["state"] == "received"
    picture = Image.open(io.BytesIO(base64.b64decode(come["picture"].partition(",")[2])))
    assert (picture.format, picture.info) == ("PNG", {})
    assert await view(phone) == "Sent to the computer"
    assert await site.api.trail(document) == before
    assert await site.api.status(document) == "sent"


async def test_looking_at_the_phone_s_link_uses_nothing_up(site: JourneySite) -> None:
    _, desk = await at_the_desk(site)
    id, phone = await offer_handoff(site, desk)
    before = await list_pictures(site)
    for _ in range(20):
        assert await view(phone) == "Draw your signature"
        async with site.session.head(phone.link) as answer:
            assert answer.status == 200
    for act in ("open", "ink"):
        async with site.session.get(f"{phone.link}/{act}") as answer:
            assert answer.status == 405
    assert await list_pictures(site) == before
    assert (await progress(desk, id))["state"] == "waiting"
    assert (await send(phone)).status == 200


async def test_the_phone_s_page_shows_who_signs_what_and_nothing_else_of_it(site: JourneySite) -> None:
    document, desk = await at_the_desk(site)
    _, phone = await offer_handoff(site, desk, "initials")
    page, whole = (await phone.open()).content.decode(), await site.api.get(document)
    assert "Draw your initials" in page and f"{ADA['name']}, for “{whole['title']}”" in page
    for secret in (desk.link.rpartition("/")[2], document, BO["name"], ADA["email"], BO["email"]):
        assert secret not in page
    for path in ("/pages/1.webp", "/original.pdf", "/status", "/complete"):
        assert (await phone.get(path)).status == 404


async def test_a_code_is_good_for_one_drawing(site: JourneySite) -> None:
    _, desk = await at_the_desk(site)
    id, phone = await offer_handoff(site, desk)
    await send(phone)
    first = await progress(desk, id)
    again = await send(phone)
    assert (again.status, again.code) == (409, "recipient_not_active")
    assert await progress(desk, id) == first


async def test_a_new_code_takes_the_place_of_the_one_before(site: JourneySite) -> None:
    _, desk = await at_the_desk(site)
    old, old_phone = await offer_handoff(site, desk)
    await send(old_phone)
    new, phone = await offer_handoff(site, desk)
    assert (await progress(desk, old))["state"] == "expired"
    assert (await progress(desk, new))["state"] == "waiting"
    assert await view(old_phone) == "We don’t recognise this code"
    assert (await send(old_phone)).status == 404
    assert (await send(phone)).status == 200


async def test_after_ten_minutes_it_is_over_and_an_hour_later_nothing_is_left(
    site: JourneySite, clock: FakeClock
) -> None:
    _, desk = await at_the_desk(site)
    id, phone = await offer_handoff(site, desk)
    clock.advance(minutes=10)
    assert await view(phone) == "This code has expired"
    assert (await phone.post("open", {})).status == (await send(phone)).status == 409
    assert (await progress(desk, id))["state"] == "expired"
    await prune.tick(site.runtime)
    assert len(await list_pictures(site)) == 1
    clock.advance(minutes=60)
    await prune.tick(site.runtime)
    assert await list_pictures(site) == []


async def test_what_was_drawn_waits_ten_minutes_more(site: JourneySite, clock: FakeClock) -> None:
    _, desk = await at_the_desk(site)
    id, phone = await offer_handoff(site, desk)
    clock.at += 10 * MINUTE - 1
    await send(phone)
    clock.at += 10 * MINUTE - 1
    assert (await progress(desk, id))["state"] == "received"
    clock.at += 1
    assert (await progress(desk, id)) == {"state": "expired", "picture": None}


async def test_neither_token_nor_drawing_can_be_read_on_the_disk_or_in_the_log(site: JourneySite) -> None:
    _, desk = await at_the_desk(site)
    id, phone = await offer_handoff(site, desk)
    await send(phone)
    token = phone.link.rpartition("/")[2]
    png = base64.b64decode((await progress(desk, id))["picture"].partition(",")[2])
    disk = stored_bytes(site.runtime.config.storage.data_dir)
    assert id.encode() in disk
    assert token.encode() not in disk and png[:40] not in disk
    assert mask_path(f"/h/{token}/ink") == "/h/***/ink" and mask_path("/h/short") == "/h/***"


@pytest.mark.parametrize("end", ["complete", "cancel", "delete", "correct", "decline"])
async def test_it_goes_when_its_signer_has_acted_or_the_document_has_ended(
    site: JourneySite, end: str
) -> None:
    document, desk = await at_the_desk(site)
    id, phone = await offer_handoff(site, desk)
    if end == "complete":
        await desk.sign()
    elif end == "decline":
        assert (await desk.post("decline", {})).status == 200
    elif end == "correct":
        recipient = (await site.api.get(document))["recipients"][0]["id"]
        change = {"email": "countess@example.test"}
        await site.api.ok("PATCH", f"/documents/{document}/recipients/{recipient}", change)
    else:
        await site.api.ok("POST", f"/documents/{document}/cancel")
        if end == "delete":
            assert (await site.api.call("DELETE", f"/documents/{document}")).status in (200, 204)
    assert await list_pictures(site) == []
    assert await view(phone) == "We don’t recognise this code"
    assert (await send(phone)).status == 404
    assert (await desk.get(f"/handoff/{id}")).status in (404, 409)


async def test_nobody_else_sees_what_was_drawn(site: JourneySite) -> None:
    _, desk = await at_the_desk(site)
    bo = await site.person(BO["email"])
    id, phone = await offer_handoff(site, desk)
    await send(phone)
    assert await progress(bo, id) == {"state": "expired", "picture": None}
    assert (await Person(site.session, desk.link[:-1] + "_").get(f"/handoff/{id}")).status == 404
    assert (await phone.get(f"/handoff/{id}")).status == 404


async def test_a_link_that_asks_for_a_code_hands_nothing_to_a_phone_before_it_was_shown(
    site: JourneySite,
) -> None:
    _, desk = await at_the_desk(site, authentication="email_code")
    refused = await desk.post("handoff", {"kind": "signature"})
    assert (refused.status, refused.code) == (409, "recipient_not_active")
    await desk.send_code()
    await site.work("mail")
    [mail] = [
        m
        for m in await embedded_outbox.list_mails(site.runtime.db, 1000)
        if m.subject.startswith("Your code")
    ]
    message = await embedded_outbox.read_mail(site.runtime.db, site.runtime.vault, mail.id)
    assert message is not None
    found = re.search(r"\b(\d{3})\s(\d{3})\b", part(message, "plain"))
    assert found
    assert (await desk.enter(found[1] + found[2])).status == 200
    id, phone = await offer_handoff(site, desk)
    await send(phone)
    assert (await progress(desk, id))["state"] == "received"
    stranger = Person(site.session, desk.link)
    assert (await stranger.get(f"/handoff/{id}")).status == 409


@pytest.mark.parametrize("picture", [None, 7, [], "Ada", "data:image/png;base64,AAAA"])
async def test_what_is_no_picture_is_refused_and_the_code_stays_good(site: JourneySite, picture: Any) -> None:
    _, desk = await at_the_desk(site)
    id, phone = await offer_handoff(site, desk)
    refused = await send(phone, picture)
    assert refused.status == 400
    assert [one["path"] for one in refused.body["error"]["details"]] == ["/picture"]
    assert (await progress(desk, id))["state"] == "waiting"
    assert (await send(phone)).status == 200


async def test_only_a_signature_or_initials_can_be_asked_for(site: JourneySite) -> None:
    _, desk = await at_the_desk(site)
    for kind in (None, "passport", 1):
        assert (await desk.post("handoff", {"kind": kind})).status == 400
    assert (await desk.post("handoff", {"kinds": "signature"})).status == 400
    assert await list_pictures(site) == []

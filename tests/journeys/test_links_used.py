"""Which link a recipient came by, as the trail, the certificate and the API say it: never more than is known."""

import json
import re
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pikepdf
import pytest

from esign.core.actor import Mode
from tests.fakes import FakeClock
from tests.journeys.api import Api, Person, a_request
from tests.journeys.letters import link_in, part
from tests.journeys.site import JourneySite, a_site
from tests.mail.server import Server, serving
from tests.pdf.sealing import text_of, words

ADA = {"name": "Ada Lovelace", "email": "ada@example.test"}
ACTS = ("recipient.authenticated", "recipient.viewed", "recipient.completed", "recipient.declined")


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as server:
        yield server


@pytest.fixture
async def post(tmp_path: Path, clock: FakeClock, server: Server) -> AsyncIterator[JourneySite]:
    """A site whose mails leave."""
    mail = {
        "host": "127.0.0.1",
        "port": server.port,
        "security": "none",
        "from": "Fernhill <sign@fernhill.example>",
    }
    async with a_site(tmp_path / "post", clock, mail=mail) as site:
        yield site


async def by_mail(site: JourneySite, server: Server) -> Person:
    """Whoever opens the newest link that a mail server took."""
    await site.work("mail")
    link = next(link for message in reversed(server.messages) if (link := link_in(message)))
    return Person(site.session, link)


async def by_hand(site: JourneySite, api: Api, document: str) -> Person:
    """Whoever opens a link that the sender fetched."""
    recipient = (await api.get(document))["recipients"][0]["id"]
    path = f"/documents/{document}/recipients/{recipient}/link"
    return Person(site.session, (await api.ok("POST", path, {}))["url"])


async def acts(api: Api, document: str) -> dict[str, Any]:
    """The link of each act, as the audit trail says it."""
    page = await api.ok("GET", f"/documents/{document}/audit?limit=100")
    return {line["type"]: line["data"].get("link") for line in page["data"] if line["type"] in ACTS}


async def proof(api: Api, document: str) -> Any:
    return (await api.get(document))["recipients"][0]["proof"]


async def print_certificate(site: JourneySite, api: Api, document: str) -> str:
    """The certificate page."""
    await site.work("seal")
    return words(text_of(await api.file(document)))


def says(text: str, sentence: str) -> bool:
    return words(sentence) in text


async def test_a_link_from_a_mail_that_a_mail_server_took(post: JourneySite, server: Server) -> None:
    document = await post.api.send_document(recipients=[ADA])
    assert await proof(post.api, document) is None
    await (await by_mail(post, server)).sign()
    assert await acts(post.api, document) == dict.fromkeys(ACTS[:3], "email")
    assert await proof(post.api, document) == {"method": "link", "link": "email", "code": None}
    text = await print_certificate(post, post.api, document)
    assert says(text, "Link sent by email – passed") and not says(text, "given to the sender")


async def test_a_link_that_was_handed_out_is_never_said_to_have_been_mailed(
    post: JourneySite, server: Server
) -> None:
    document = await post.api.send_document(recipients=[ADA])
    await (await by_hand(post, post.api, document)).sign()
    assert server.messages == [], "no mail has left"
    assert await acts(post.api, document) == dict.fromkeys(ACTS[:3], "sender")
    assert await proof(post.api, document) == {"method": "link", "link": "sender", "code": None}
    text = await print_certificate(post, post.api, document)
    assert says(text, "Link given to the sender") and not says(text, "by email")


@pytest.mark.parametrize("first", ["email", "sender"])
async def test_where_both_links_are_used_each_act_names_its_own(
    post: JourneySite, server: Server, first: str
) -> None:
    document = await post.api.send_document(recipients=[ADA])
    both = {"email": await by_mail(post, server), "sender": await by_hand(post, post.api, document)}
    second = {"email": "sender", "sender": "email"}[first]
    assert (await both[first].view()).status == 200
    assert (await proof(post.api, document))["link"] == first
    await both[second].sign()
    assert await acts(post.api, document) == {
        "recipient.authenticated": first,
        "recipient.viewed": first,
        "recipient.completed": second,
    }
    assert (await proof(post.api, document))["link"] == second
    text = await print_certificate(post, post.api, document)
    assert says(text, "Link sent by email – passed") and says(text, "Link given to the sender")


async def test_a_refusal_names_its_link_too(post: JourneySite, server: Server) -> None:
    document = await post.api.send_document(recipients=[ADA])
    await (await by_hand(post, post.api, document)).decline()
    assert (await acts(post.api, document))["recipient.declined"] == "sender"
    assert (await proof(post.api, document))["link"] == "sender"


async def test_a_link_from_a_mail_that_was_only_kept_here_was_not_mailed(site: JourneySite) -> None:
    document = await site.api.send_document(recipients=[ADA])
    await site.work("mail")
    recipient = (await site.api.get(document))["recipients"][0]
    assert (recipient["mail"], recipient["delivery"]["status"], recipient["status"]) == (
        "kept",
        "none",
        "sent",
    )
    await (await site.person(ADA["email"])).sign()
    assert await acts(site.api, document) == dict.fromkeys(ACTS[:3], "sender")
    text = await print_certificate(site, site.api, document)
    assert says(text, "Link given to the sender") and not says(text, "by email")
    for claim in ("Invitation sent", "Reminder sent", "Copy sent"):
        assert not says(text, claim)


async def test_the_state_of_each_mail_is_told_beside_the_status(post: JourneySite, server: Server) -> None:
    document = (await post.api.ok("POST", "/documents", a_request(recipients=[ADA])))["id"]
    seen = [(await post.api.get(document))["recipients"][0]["mail"]]
    await post.api.send(document)
    seen.append((await post.api.get(document))["recipients"][0]["mail"])
    await post.work("mail")
    seen.append((await post.api.get(document))["recipients"][0]["mail"])
    server.says["rcpt"] = "550 no such user"
    refused = await post.api.send_document(recipients=[ADA])
    await post.work("mail")
    seen.append((await post.api.get(refused))["recipients"][0]["mail"])
    assert seen == ["none", "waiting", "sent", "failed"]


@pytest.mark.parametrize("how", ["mail", "simulated", "hand"])
async def test_a_link_of_test_mode_is_called_that(post: JourneySite, server: Server, how: str) -> None:
    api = await post.key(mode=Mode.TEST)
    document = await api.send_document(recipients=[ADA])
    if how == "mail":
        await (await by_mail(post, server)).sign()
    elif how == "hand":
        await (await by_hand(post, api, document)).sign()
    else:
        await api.ok("POST", f"/test/documents/{document}/simulate", {"action": "complete"})
    expected = "sender" if how == "hand" else "test"
    assert set((await acts(api, document)).values()) == {expected}
    assert (await proof(api, document))["link"] == expected
    assert not says(await print_certificate(post, api, document), "by email")


async def test_what_was_mailed_before_this_was_recorded_is_not_guessed(
    post: JourneySite, server: Server
) -> None:
    document = await post.api.send_document(recipients=[ADA])
    ada = await by_mail(post, server)
    await post.runtime.db.write(lambda tx: tx.run("UPDATE link SET reached = NULL"))
    await ada.sign()
    assert set((await acts(post.api, document)).values()) == {None}
    assert await proof(post.api, document) == {"method": "link", "link": None, "code": None}
    text = await print_certificate(post, post.api, document)
    assert says(text, "Link; delivery not recorded") and not says(text, "by email")


async def test_a_phone_that_draws_for_a_desk_changes_nothing_about_its_link(
    post: JourneySite, server: Server
) -> None:
    from tests.journeys.test_handoff import offer_handoff, send

    document = await post.api.send_document(recipients=[ADA])
    desk = await by_hand(post, post.api, document)
    _, phone = await offer_handoff(post, desk)
    assert (await send(phone)).status == 200
    await desk.sign()
    assert set((await acts(post.api, document)).values()) == {"sender"}


@pytest.mark.parametrize("mailed", [True, False])
async def test_a_code_that_was_not_mailed_is_not_said_to_have_been(
    tmp_path: Path, clock: FakeClock, post: JourneySite, site: JourneySite, server: Server, mailed: bool
) -> None:
    at = post if mailed else site
    document = await at.api.send_document(recipients=[{**ADA, "authentication": "email_code"}])
    await at.work("mail")
    person = await by_mail(post, server) if mailed else await site.person(ADA["email"])
    assert (await person.send_code()).status == 200
    await at.work("mail")
    message = server.messages[-1] if mailed else await newest_kept(site)
    code = re.search(r"\b(\d{3})\s(\d{3})\b", part(message, "plain"))
    assert code is not None
    assert (await person.enter(code[1] + code[2])).status == 200
    route = "email" if mailed else "sender"
    assert await proof(at.api, document) is None, "it was not looked at yet"
    await person.sign()
    assert await proof(at.api, document) == {"method": "email_code", "link": route, "code": route}
    text = await print_certificate(at, at.api, document)
    assert says(text, "Code sent by email – passed") is mailed
    assert says(text, "Code kept on the server, not emailed – passed") is not mailed


async def newest_kept(site: JourneySite) -> Any:
    from esign.actions.mail import embedded_outbox

    kept = (await embedded_outbox.list_mails(site.runtime.db, 1))[-1]
    return await embedded_outbox.read_mail(site.runtime.db, site.runtime.vault, kept.id)


async def test_a_corrected_recipient_has_shown_nothing_yet(post: JourneySite, server: Server) -> None:
    document = await post.api.send_document(recipients=[ADA])
    assert (await (await by_mail(post, server)).view()).status == 200
    recipient = (await post.api.get(document))["recipients"][0]["id"]
    path = f"/documents/{document}/recipients/{recipient}"
    await post.api.ok("PATCH", path, {"email": "countess@example.test"})
    assert await proof(post.api, document) is None


async def test_the_trail_in_the_sealed_file_says_the_same(post: JourneySite, server: Server) -> None:
    document = await post.api.send_document(recipients=[ADA])
    await (await by_hand(post, post.api, document)).sign()
    await post.work("seal")
    with pikepdf.open(BytesIO(await post.api.file(document))) as pdf:
        trail = json.loads(pdf.attachments["audit.json"].get_file().read_bytes())
    assert '"link": "sender"' in json.dumps(trail) and '"link": "email"' not in json.dumps(trail)

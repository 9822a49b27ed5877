import asyncio
import json
from functools import partial
from typing import Any

import pytest

from tests.api.site import Site, SiteAnswer, a_config, a_request, gather, running
from tests.journeys.api import until
from tests.web.wire import Wire, ask, request

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def create(site: Site, name: str, body: Any = None, key: str = "") -> SiteAnswer:
    headers = {"Idempotency-Key": name}
    return await site.ask("POST", "/documents", body or a_request(), headers=headers, key=key)


async def count(site: Site, table: str) -> int:
    row = await site.runtime.db.one(f"SELECT count(*) AS number FROM {table}")
    assert row is not None
    return int(row["number"])


async def documents(site: Site) -> int:
    return await count(site, "document")


HOOK = {"url": "https://ok.test/", "events": ["template.deleted"]}


async def test_the_first_answer_is_replayed_byte_for_byte(site: Site) -> None:
    first, again = await create(site, "a"), await create(site, "a")
    assert first.status == again.status == 201 and first.content == again.content
    assert again.headers["idempotent-replayed"] == "true" and "idempotent-replayed" not in first.headers
    assert again.headers["location"] == first.headers["location"]
    assert again.headers["x-request-id"] != first.headers["x-request-id"]


async def test_fifty_at_once_make_one_document(site: Site) -> None:
    before = await documents(site)
    answers = await gather(*(create(site, "fifty") for _ in range(50)))
    assert await documents(site) == before + 1
    assert {answer.code for answer in answers} <= {"201", "idempotency_in_progress"}
    made = {answer.content for answer in answers if answer.status == 201}
    assert len(made) == 1
    waiting = [answer for answer in answers if answer.status == 409]
    assert waiting and all(answer.headers["retry-after"] == "1" for answer in waiting)
    assert (await create(site, "fifty")).content in made


async def test_the_same_key_for_anything_else_is_a_conflict(site: Site) -> None:
    first = await create(site, "reused")
    assert (await create(site, "reused", body=a_request(title="Other"))).code == "idempotency_key_reused"
    headers = {"Idempotency-Key": "reused"}
    path = f"/documents/{first.body['id']}/send"
    assert (await site.ask("POST", path, headers=headers)).code == "idempotency_key_reused"
    hook = {"url": "https://ok.test/", "events": ["*"]}
    assert (await site.ask("POST", "/webhooks", hook, headers=headers)).code == "idempotency_key_reused"
    assert (await create(site, "reused")).content == first.content


async def test_the_same_values_in_another_spelling_are_the_same_request(site: Site) -> None:
    first = await create(site, "spelt", body=a_request(title="é", expiresInDays=30))
    body = a_request(title="é", expiresInDays=30)
    spelt = json.dumps(dict(reversed(body.items()))).replace("30", "30.0").encode()
    assert b"\\u00e9" in spelt
    headers = {"Idempotency-Key": "spelt", "Content-Type": "application/json"}
    assert (await site.ask("POST", "/documents", data=spelt, headers=headers)).content == first.content


async def test_each_api_key_has_its_own(site: Site) -> None:
    other = await site.new_key()
    assert (await create(site, "own")).content != (await create(site, "own", key=other)).content


async def test_a_refusal_is_not_remembered_so_it_may_be_corrected_under_the_same_key(site: Site) -> None:
    refusals = [
        await create(site, "corrected", body=a_request(title="")),
        await create(site, "corrected", body=a_request(file="aGVsbG8=")),
    ]
    assert [answer.code for answer in refusals] == ["invalid_request", "invalid_file"]
    assert (await create(site, "corrected")).status == 201


async def test_a_refused_send_may_be_sent_again_when_it_can_work(site: Site) -> None:
    headers = {"Idempotency-Key": "not-ready"}
    path = f"/documents/{await site.create(recipients=[])}/send"
    for _ in range(2):
        answer = await site.ask("POST", path, headers=headers)
        assert answer.code == "document_not_ready" and "idempotent-replayed" not in answer.headers


async def test_after_its_time_the_key_is_free_again(site: Site) -> None:
    first = await create(site, "day")
    site.clock.advance(hours=24)
    assert (await create(site, "day")).content == first.content
    site.clock.advance(milliseconds=1)
    assert (await create(site, "day")).content != first.content


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "k" * 256, '"', '"a', '""', "a\tb"])
async def test_a_malformed_key_is_refused(site: Site, key: str) -> None:
    seen = await ask(
        site.port,
        "POST",
        "/api/v1/documents",
        json.dumps(a_request()).encode(),
        f"Authorization: Bearer {site.key}",
        "Content-Type: application/json",
        f"Idempotency-Key: {key}",
    )
    assert seen.status == 400 and seen.code == "invalid_idempotency_key"


async def test_255_characters_and_a_quoted_string_are_keys(site: Site) -> None:
    assert (await create(site, "k" * 255)).status == 201
    first = await create(site, '"quoted"')
    assert (await create(site, "quoted")).content == first.content


async def test_a_get_ignores_the_key(site: Site) -> None:
    answer = await site.ask("GET", "/documents", headers={"Idempotency-Key": ""})
    assert answer.status == 200 and "idempotent-replayed" not in answer.headers


async def test_what_is_replayed_is_stored_encrypted(site: Site) -> None:
    hook = {"url": "https://ok.test/", "events": ["*"]}
    made = await site.ask("POST", "/webhooks", hook, headers={"Idempotency-Key": "secret"})
    [row] = await site.runtime.db.all("SELECT body FROM idempotency WHERE key = 'secret'")
    assert made.body["secret"].encode() not in row["body"] and b"whsec_" not in row["body"]
    again = await site.ask("POST", "/webhooks", hook, headers={"Idempotency-Key": "secret"})
    assert again.body["secret"] == made.body["secret"]


async def test_a_client_that_leaves_finds_the_effect_or_none_of_it(site: Site) -> None:
    """Clients hang up at different moments; a repeat tells what became of each, and there is one of each."""
    before = await documents(site)
    data = json.dumps(a_request()).encode()
    for number in range(20):
        await leave(site, "/documents", data, f"leaves-{number}", number)

    async def send_again(number: int) -> SiteAnswer | None:
        answer = await create(site, f"leaves-{number}")
        return None if answer.code == "idempotency_in_progress" else answer

    for number in range(20):
        assert (await until(partial(send_again, number), "answer")).status == 201
    assert await documents(site) == before + 20


async def leave(site: Site, path: str, data: bytes, name: str, number: int) -> None:
    """A request whose client is gone a little later each time; every other one is never finished."""
    lines = (
        f"Authorization: Bearer {site.key}",
        "Content-Type: application/json",
        f"Idempotency-Key: {name}",
    )
    wire = await Wire.open(site.port)
    raw = request("POST", f"/api/v1{path}", data, *lines)
    await wire.write(raw[: len(raw) - (number % 2)])
    for _ in range(number % 40):
        await asyncio.sleep(0)
    await wire.close()


@pytest.mark.slow
async def test_two_hundred_clients_that_leave_have_one_effect_each(site: Site) -> None:
    body = {"fromDocumentId": await site.create()}
    data = json.dumps(body).encode()

    async def one(number: int) -> None:
        await leave(site, "/templates", data, f"gone-{number}", number)

        async def send_again() -> SiteAnswer | None:
            headers = {"Idempotency-Key": f"gone-{number}"}
            answer = await site.ask("POST", "/templates", body, headers=headers)
            return None if answer.code == "idempotency_in_progress" else answer

        assert (await until(send_again, "answer")).status == 201

    before = await count(site, "template")
    for start in range(0, 200, 25):  # no more connections at once than one address may have
        await gather(*(one(start + n) for n in range(25)))
    assert await count(site, "template") == before + 200


@pytest.mark.slow
async def test_a_hundred_keys_by_fifty_at_once_make_a_hundred_documents(site: Site) -> None:
    """5,000 requests, every fifth by a client that does not wait for its answer (T10)."""
    keys, times, body = range(100), 50, a_request()
    before, left = await documents(site), asyncio.Semaphore(10)

    async def one(number: int, turn: int) -> SiteAnswer | None:
        if turn % 5 == 4:
            async with left:
                await leave(site, "/documents", data, f"storm-{number}", 2 * turn)
            return None
        return await create(site, f"storm-{number}", body)

    data = json.dumps(body).encode()
    found = await gather(*(one(number, turn) for turn in range(times) for number in keys))
    answers = [answer for answer in found if answer is not None]
    # One key has a bounded number of files in the queue of the PDF workers; what is over it may be sent again.
    assert {"201", "idempotency_in_progress"} <= {answer.code for answer in answers}
    assert {answer.code for answer in answers} <= {"201", "idempotency_in_progress", "rate_limited"}
    assert {a.headers["retry-after"] for a in answers if a.status == 409} == {"1"}
    assert all(int(a.headers["retry-after"]) >= 1 for a in answers if a.status == 429)

    async def send_again(number: int) -> SiteAnswer | None:
        answer = await create(site, f"storm-{number}", body)
        return answer if "idempotent-replayed" in answer.headers else None

    replays = [await until(partial(send_again, number), "answer") for number in keys]
    assert {answer.headers["idempotent-replayed"] for answer in replays} == {"true"}
    said = {answer.content for answer in answers if answer.status == 201}
    assert said <= {answer.content for answer in replays} and len({r.content for r in replays}) == 100
    assert await documents(site) == before + 100


async def test_a_hundred_changed_bodies_are_conflicts_and_have_no_effect(site: Site) -> None:
    first = await create(site, "changed")
    before = await documents(site)
    for number in range(100):
        answer = await create(site, "changed", a_request(title=f"Other {number}"))
        assert answer.code == "idempotency_key_reused"
    assert await documents(site) == before
    assert (await create(site, "changed")).content == first.content


@pytest.mark.parametrize("minutes, same", [(24 * 60 - 1, True), (24 * 60 + 1, False)])
async def test_a_minute_before_its_day_is_over_it_is_replayed_and_a_minute_after_it_is_new(
    site: Site, minutes: int, same: bool
) -> None:
    name = f"minutes-{minutes}"
    first = await create(site, name)
    site.clock.advance(minutes=minutes)
    again = await create(site, name)
    assert again.status == 201 and (again.content == first.content) == same
    assert ("idempotent-replayed" in again.headers) == same


async def test_no_link_and_no_secret_of_a_replay_stands_in_the_files_of_the_database(site: Site) -> None:
    document = await site.send_document()
    headers = {"Idempotency-Key": "hidden"}
    path = f"/documents/{document['id']}/recipients/{document['recipients'][0]['id']}/link"
    url = str((await site.ok("POST", path, headers=headers))["url"])
    secret = str((await site.ok("POST", "/webhooks", HOOK, headers={"Idempotency-Key": "hook"}))["secret"])
    folder = site.runtime.config.storage.data_dir
    stored = b"".join(file.read_bytes() for file in sorted(folder.glob("esign.db*")))
    assert document["id"].encode() in stored
    for hidden in (url.rpartition("/")[2], secret, secret.removeprefix("whsec_")):
        assert hidden.encode() not in stored
    assert (await site.ok("POST", path, headers=headers))["url"] == url


@pytest.mark.slow
async def test_a_restart_forgets_neither_the_effect_nor_its_answer(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    config = a_config(tmp_path_factory.mktemp("restart"))
    async with running(config) as site:
        key, first = site.key, await create(site, "restart")
    async with running(config) as site:
        again = await create(site, "restart", key=key)
        assert again.content == first.content and again.headers["idempotent-replayed"] == "true"
        assert await documents(site) == 1

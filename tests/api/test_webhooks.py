import base64
from typing import Any

import pytest

from esign.core.actor import Mode
from esign.core.instant import rfc3339
from esign.core.people.api_key import Scope
from esign.core.webhook.webhook import ALL_EVENTS
from esign.core.webhook.webhook_signature import sign
from esign.store.queue import deliveries
from esign.web.api.endpoint_table import describe
from tests.api import described
from tests.api.site import Site, a_config, running
from tests.journeys.api import until
from tests.journeys.receiver import Receiver, receiving

pytestmark = pytest.mark.asyncio(loop_scope="module")

NOWHERE = "https://ok.test/hook"  # a name that never resolves: taken, since names are looked up at delivery


def a_hook(**changes: Any) -> dict[str, Any]:
    return {"url": NOWHERE, "events": ["document.completed"], **changes}


async def test_registering_answers_the_webhook_with_its_secret(site: Site) -> None:
    answer = await site.ask("POST", "/webhooks", a_hook(description="CRM"))
    webhook, now = answer.body, rfc3339(site.clock.now())
    assert answer.status == 201 and answer.headers["location"] == f"/api/v1/webhooks/{webhook['id']}"
    assert webhook["id"].startswith("wh_") and len(webhook["id"]) == 29
    assert len(base64.b64decode(webhook["secret"].removeprefix("whsec_"), validate=True)) == 32
    assert webhook == {
        "id": webhook["id"],
        "url": NOWHERE,
        "events": ["document.completed"],
        "enabled": True,
        "createdAt": now,
        "description": "CRM",
        "updatedAt": now,
        "disabledAt": None,
        "disabledReason": None,
        "failingSince": None,
        "lastSuccessAt": None,
        "secret": webhook["secret"],
    }


async def test_only_url_and_events_are_needed_and_one_url_may_be_registered_twice(site: Site) -> None:
    one = await site.ok("POST", "/webhooks", a_hook())
    other = await site.ok("POST", "/webhooks", a_hook(description=""))
    assert one["description"] is None and other["description"] is None
    assert one["id"] != other["id"] and one["secret"] != other["secret"]


async def test_the_secret_is_stored_encrypted_and_shown_again_only_by_a_replay(site: Site) -> None:
    headers = {"Idempotency-Key": "hook-1"}
    first = await site.ask("POST", "/webhooks", a_hook(), headers=headers)
    again = await site.ask("POST", "/webhooks", a_hook(), headers=headers)
    assert again.content == first.content and again.headers["idempotent-replayed"] == "true"
    secret = first.body["secret"].encode()
    folder = site.runtime.config.storage.data_dir
    for file in folder.iterdir():
        assert secret not in file.read_bytes(), file.name


async def test_every_event_of_the_contract_may_be_asked_for(site: Site) -> None:
    assert len(ALL_EVENTS) == 19
    webhook = await site.ok("POST", "/webhooks", a_hook(events=list(ALL_EVENTS)))
    assert webhook["events"] == list(ALL_EVENTS)
    assert (await site.ok("POST", "/webhooks", a_hook(events=["*"])))["events"] == ["*"]


REFUSED: list[tuple[dict[str, Any], str, str, str]] = [
    ({"url": None}, "invalid_request", "/url", "required"),
    ({"url": ""}, "invalid_request", "/url", "length"),
    ({"url": 5}, "invalid_request", "/url", "type"),
    ({"events": None}, "invalid_request", "/events", "required"),
    ({"events": []}, "invalid_request", "/events", "length"),
    ({"events": "document.sent"}, "invalid_request", "/events", "type"),
    ({"events": [5]}, "invalid_request", "/events/0", "type"),
    ({"events": ["document.sent"] * 2}, "invalid_request", "/events", "duplicate"),
    ({"events": [f"e{n}" for n in range(51)]}, "invalid_request", "/events", "length"),
    ({"description": "d" * 201}, "invalid_request", "/description", "length"),
    ({"secret": "whsec_mine"}, "invalid_request", "/secret", "unknown_member"),
    ({"enabled": False}, "invalid_request", "/enabled", "unknown_member"),
    ({"events": ["document.sent", "document.signed"]}, "unknown_event", "/events/1", "enum"),
    ({"events": ["e" * 100]}, "unknown_event", "/events/0", "enum"),
    ({"events": ["*", "document.sent"]}, "unknown_event", "/events", "enum"),
]


@pytest.mark.parametrize("given, code, path, rule", REFUSED, ids=[f"{row[2]} {row[3]}" for row in REFUSED])
async def test_a_webhook_that_does_not_fit_is_refused_at_its_member(
    site: Site, given: dict[str, Any], code: str, path: str, rule: str
) -> None:
    body = {name: value for name, value in a_hook(**given).items() if value is not None}
    answer = await site.ask("POST", "/webhooks", body)
    assert answer.code == code and answer.places == {(path, rule)}


HOSTILE = [
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://[::ffff:7f00:1]/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://169.254.169.254/",
    "https://10.0.0.1/",
    "https://u:p@ok.test/",
    "https://localhost./",
    "https://ok.test:22/",
    "https://ok.test:0/",
    "ftp://ok.test/",
    "ok.test",
    "https://ok.test/" + "a" * 2_048,
]


@pytest.mark.parametrize("url", [*HOSTILE, "http://ok.test/"], ids=lambda url: url[:40])
async def test_a_target_that_no_delivery_may_reach_is_refused(site: Site, url: str) -> None:
    answer = await site.ask("POST", "/webhooks", a_hook(url=url))
    assert answer.code == "invalid_webhook_url"


async def test_a_base_address_in_the_world_allows_no_loopback_target(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    config = a_config(tmp_path_factory.mktemp("world"))
    server = config.server.model_copy(update={"base_url": "https://sign.example.com"})
    async with running(config.model_copy(update={"server": server})) as site:
        for url in (*HOSTILE, "http://localhost:8000/", "http://127.0.0.1:8000/", "https://[::1]:8000/"):
            answer = await site.ask("POST", "/webhooks", a_hook(url=url))
            assert answer.code == "invalid_webhook_url", url
        refused = await site.ask("POST", "/webhooks", a_hook(url="https://10.0.0.1/"))
        assert "allow_hosts" in refused.body["error"]["message"]


async def test_a_loopback_installation_allows_loopback_so_spelt_and_test_keys_plain_http(site: Site) -> None:
    for url in ("http://localhost:8000/", "http://127.0.0.1:8000/", "http://[::1]:8000/"):
        assert (await site.ask("POST", "/webhooks", a_hook(url=url))).status == 201
    key = await site.new_key(mode=Mode.TEST)
    assert (await site.ask("POST", "/webhooks", a_hook(url="http://ok.test/"), key=key)).status == 201


async def test_the_number_of_webhooks_is_limited_for_each_mode(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    async with running(a_config(tmp_path_factory.mktemp("limit"), webhooks=2)) as site:
        made = [await site.ok("POST", "/webhooks", a_hook()) for _ in range(2)]
        assert (await site.ask("POST", "/webhooks", a_hook())).code == "limit_reached"
        key = await site.new_key(mode=Mode.TEST)
        assert (await site.ask("POST", "/webhooks", a_hook(), key=key)).status == 201
        await site.ok("DELETE", f"/webhooks/{made[0]['id']}")
        assert (await site.ask("POST", "/webhooks", a_hook())).status == 201


async def test_deleting_answers_exactly_the_id_and_drops_what_was_pending(site: Site) -> None:
    async with receiving() as receiver:
        receiver.always(500)
        webhook = await site.ok("POST", "/webhooks", a_hook(url=receiver.url, events=["document.created"]))
        await site.create()

        async def find_try() -> Any:
            return await pending(site, webhook["id"]) or None

        assert await until(find_try, "failed delivery")
        answer = await site.ask("DELETE", f"/webhooks/{webhook['id']}")
        assert answer.status == 200 and answer.body == {"id": webhook["id"]}
        assert not await pending(site, webhook["id"])
        assert (await site.ask("DELETE", f"/webhooks/{webhook['id']}")).code == "not_found"
        count = len(receiver.came)
        await site.create()
        assert not await pending(site, webhook["id"]) and len(receiver.came) == count


async def pending(site: Site, webhook_id: str) -> list[str]:
    """Deliveries to it that failed at least once and are not finished."""
    return [left.id for left in await deliveries.find_pending(site.runtime.db, webhook_id) if left.last_error]


async def test_a_repeated_deletion_replays_its_answer(site: Site) -> None:
    webhook, headers = await site.ok("POST", "/webhooks", a_hook()), {"Idempotency-Key": "delete-1"}
    answers = [
        await site.ask("DELETE", f"/webhooks/{webhook['id']}", headers=headers, data=body)
        for body in (None, b"", b"{}")
    ]
    assert {answer.content for answer in answers} == {answers[0].content} and answers[0].status == 200


@pytest.mark.parametrize("webhook_id", ["wh_00000000000000000000000000", "x", "%2e%2e%2f", "wh_' OR 1=1"])
async def test_an_unknown_webhook_is_not_found(site: Site, webhook_id: str) -> None:
    assert (await site.ask("DELETE", f"/webhooks/{webhook_id}")).code == "not_found"


async def test_webhooks_need_their_scope(site: Site) -> None:
    key = await site.new_key(Scope.DOCUMENTS_WRITE, Scope.WEBHOOKS_READ)
    assert (await site.ask("POST", "/webhooks", a_hook(), key=key)).code == "insufficient_scope"
    assert (await site.ask("DELETE", "/webhooks/x", key=key)).code == "insufficient_scope"


async def test_what_is_delivered_is_what_the_description_says(site: Site) -> None:
    async with receiving() as receiver:
        webhook = await site.ok("POST", "/webhooks", a_hook(url=receiver.url, events=["*"]))
        completed = await site.complete_document(externalId="crm-1", metadata={"a": "b"})
        signer = site.signer()
        refused = await site.send_document(recipients=[signer])
        await (await site.person(signer["email"])).decline("too dear")
        await came(receiver, 6 + 5)
        await site.ok("DELETE", f"/webhooks/{webhook['id']}")
    spoken = describe()["webhooks"]
    for delivered in receiver.came:
        place = ("webhooks", delivered.type, "post", "requestBody", "content", "application/json", "schema")
        assert delivered.type in spoken
        faults = list(described.validator(*place).iter_errors(delivered.event))
        assert not faults, f"{delivered.type} {faults[0].instance_path}: {faults[0].message}"
        stamp = int(delivered.headers["webhook-timestamp"])
        expected = sign(webhook["secret"], delivered.id, stamp, delivered.body)
        assert delivered.headers["webhook-signature"] == expected
    of_one = sorted(
        (d.event for d in receiver.came if d.event["data"]["document"]["id"] == completed["id"]),
        key=lambda event: event["sequence"],
    )
    assert [event["type"] for event in of_one] == [
        "document.created",
        "document.sent",
        "recipient.sent",
        "recipient.viewed",
        "recipient.completed",
        "document.completed",
    ]
    assert [event["sequence"] for event in of_one] == [1, 2, 3, 4, 5, 6]
    last = of_one[-1]["data"]["document"]
    assert last["status"] == "completed" and last["externalId"] == "crm-1" and last["metadata"] == {"a": "b"}
    declined = [d.event for d in receiver.came if d.type.endswith(".declined")]
    assert {event["data"]["document"]["id"] for event in declined} == {refused["id"]} and len(declined) == 2
    assert all(event["data"]["recipient"]["declineReason"] == "too dear" for event in declined)


async def came(receiver: Receiver, number: int) -> None:
    async def enough() -> bool | None:
        return len(receiver.came) >= number or None

    await until(enough, f"{number} deliveries, only {len(receiver.came)}")

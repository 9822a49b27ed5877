"""The administrative audit log over the API, and what enters it (issue 12, section 2)."""

from typing import Any

import pytest

from esign.actions.verification.verify_trails import recompute
from esign.cli import verify_trails
from esign.core.actor import Mode
from esign.core.instant import rfc3339
from esign.core.people.api_key import Scope
from esign.store.engine.database import Transaction
from tests.api.site import Site

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def entries(site: Site, query: str = "", **given: Any) -> list[Any]:
    return list((await site.ok("GET", f"/audit?limit=100{query}", **given))["data"])


async def newest(site: Site, type: str) -> Any:
    return (await entries(site, f"&type={type}"))[0]


async def member(site: Site, **changes: Any) -> Any:
    return await site.ok("POST", "/members", {**site.signer(), "role": "member", **changes})


async def test_every_administrative_act_of_a_program_is_entered_with_actor_address_and_effect(
    site: Site,
) -> None:
    me = (await site.ok("GET", "/account"))["key"]
    someone = await member(site)
    invited = await newest(site, "member.invited")
    assert (invited["actor"]["kind"], invited["actor"]["id"]) == ("api_key", me["id"])
    assert invited["ip"] == "127.0.0.1" and invited["organisationId"].startswith("org_")
    assert invited["data"] == {
        "memberId": someone["id"],
        "role": "member",
        "again": False,
        "linkShown": False,
    }
    assert invited["detail"] == {"name": someone["name"], "email": someone["email"]}

    await site.ok("PATCH", f"/members/{someone['id']}", {"role": "admin"})
    changed = await newest(site, "member.changed")
    assert changed["data"]["role"] == {"from": "member", "to": "admin"}
    await site.ok("DELETE", f"/members/{someone['id']}", {})
    assert (await newest(site, "member.removed"))["data"]["memberId"] == someone["id"]

    before = await site.ok("GET", "/settings")
    await site.ok("PATCH", "/settings", {"retainCompletedDays": 30, "replyTo": "new@example.test"})
    settings = await newest(site, "settings.changed")
    assert settings["data"]["changes"] == {"retainCompletedDays": {"from": None, "to": 30}}
    assert settings["detail"]["replyTo"] == {"from": before["replyTo"], "to": "new@example.test"}
    await site.ok("PATCH", "/settings", {"retainCompletedDays": None, "replyTo": before["replyTo"]})

    hook = await site.ok("POST", "/webhooks", {"url": "https://ok.test/", "events": ["document.sent"]})
    assert (await newest(site, "webhook.created"))["data"]["webhookId"] == hook["id"]
    await site.ok("PATCH", f"/webhooks/{hook['id']}", {"enabled": False})
    assert (await newest(site, "webhook.changed"))["data"]["members"] == ["enabled"]
    await site.ok("POST", f"/webhooks/{hook['id']}/rotate-secret", {})
    assert (await newest(site, "webhook.secret_rotated"))["detail"] == {"url": "https://ok.test/"}
    await site.ok("DELETE", f"/webhooks/{hook['id']}")
    assert (await newest(site, "webhook.deleted"))["data"]["webhookId"] == hook["id"]

    key = (await site.ok("GET", "/api-keys"))["data"][0]
    await site.ok("PATCH", f"/api-keys/{key['id']}", {"name": "Other"})
    assert (await newest(site, "api_key.renamed"))["detail"]["name"]["to"] == "Other"
    await site.new_key(Scope.ACCOUNT_READ)
    made = await newest(site, "api_key.created")
    assert made["data"]["scopes"] == ["account:read"] and made["actor"]["name"] == "command line"
    await site.ok("DELETE", f"/api-keys/{made['data']['keyId']}")
    assert (await newest(site, "api_key.revoked"))["data"]["keyId"] == made["data"]["keyId"]

    draft = await site.create()
    await site.ok("DELETE", f"/documents/{draft}")
    gone = await newest(site, "document.deleted")
    assert gone["data"] == {"documentId": draft, "mode": "live", "status": "draft"}
    chain = [line async for line in auditing_of(site)]
    assert chain == [None]


async def auditing_of(site: Site) -> Any:
    """What is wrong with each administrative log."""
    async for chain in recompute(site.runtime.db, site.runtime.vault):
        if chain.document_id.startswith("org_"):
            yield chain.broken


async def test_a_refused_or_repeated_act_is_not_entered(site: Site) -> None:
    someone = await member(site)
    before = await entries(site)
    refused = [
        await site.ask("POST", "/members", {**site.signer(), "email": someone["email"], "role": "member"}),
        await site.ask("DELETE", "/members/mem_00000000000000000000000000", {}),
        await site.ask("PATCH", "/settings", {"timeZone": "Nowhere/Else"}),
    ]
    assert all(answer.status >= 400 for answer in refused)
    name = (await site.ok("GET", "/settings"))["organisationName"]
    await site.ok("PATCH", "/settings", {"organisationName": name})
    await site.ok("PATCH", f"/members/{someone['id']}", {"role": "member"})
    assert await entries(site) == before
    headers = {"Idempotency-Key": "audited-once"}
    body = {**site.signer(), "role": "viewer"}
    for _ in range(2):
        assert (await site.ask("POST", "/members", body, headers=headers)).status == 201
    assert len(await entries(site)) == len(before) + 1


async def test_the_log_is_paged_newest_first_and_narrowed_by_every_filter(site: Site) -> None:
    site.clock.advance(hours=1)
    since = rfc3339(site.clock.now())
    people = [await member(site) for _ in range(3)]
    site.clock.advance(hours=1)
    until = rfc3339(site.clock.now())
    await site.ok("PATCH", f"/members/{people[0]['id']}", {"role": "viewer"})
    period = f"&from={since}&to={until}"
    found = await entries(site, period)
    assert [one["data"]["memberId"] for one in found] == [one["id"] for one in reversed(people)]
    everything = await entries(site)
    assert [one["seq"] for one in everything] == sorted((one["seq"] for one in everything), reverse=True)
    me = (await site.ok("GET", "/account"))["key"]["id"]
    assert {one["actor"]["id"] for one in await entries(site, f"&actor={me}")} == {me}
    assert len(await entries(site, f"&actor={me}&type=member.invited{period}")) == 3
    assert await entries(site, "&actor=mem_nobody") == []
    pages, cursor = [], ""
    while True:
        page = await site.ok("GET", f"/audit?limit=1{period}{cursor}")
        pages += page["data"]
        if not page["hasMore"]:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert pages == found
    assert (await site.ask("GET", f"/audit?limit=1{cursor}")).code == "invalid_cursor"
    assert (await site.ask("GET", "/audit?type=member.flew")).code == "invalid_request"


async def test_the_filters_walk_an_index_and_never_the_table(site: Site) -> None:
    for narrower in ("", "AND type = 'x'", "AND actor_id = 'x'", "AND type = 'x' AND actor_id = 'y'"):
        rows = await site.runtime.db.all(
            f"""EXPLAIN QUERY PLAN SELECT * FROM audit WHERE document_id = :organisation_id
            AND document_id >= 'org_' AND document_id < 'org`' {narrower}
            AND at >= 0 AND (at, seq) < (5, 5) ORDER BY at DESC, seq DESC LIMIT 5""",
            organisation_id="org_1",
        )
        plan = " ".join(row["detail"] for row in rows)
        assert "audit_log_" in plan and "TEMP B-TREE" not in plan, plan


async def test_only_a_live_key_that_administers_reads_the_log(site: Site) -> None:
    lesser = await site.new_key(*(set(Scope) - {Scope.ALL, Scope.ACCOUNT_ADMIN}))
    assert (await site.ask("GET", "/audit", key=lesser)).code == "insufficient_scope"
    admin = await site.new_key(Scope.ACCOUNT_ADMIN)
    assert (await site.ask("GET", "/audit", key=admin)).status == 200
    test = await site.new_key(Scope.ALL, mode=Mode.TEST)
    assert (await site.ask("GET", "/audit", key=test)).code == "insufficient_scope"


async def test_webhooks_are_told_of_an_entry_without_names_or_details(site: Site) -> None:
    hook = await site.ok("POST", "/webhooks", {"url": "https://ok.test/", "events": ["audit.recorded"]})
    someone = await member(site)
    entry = await newest(site, "member.invited")
    [event] = (await site.ok("GET", "/events?type=audit.recorded&limit=1"))["data"]
    assert event["data"]["entry"] == {
        "seq": entry["seq"],
        "at": entry["at"],
        "type": "member.invited",
        "actor": {name: entry["actor"][name] for name in ("kind", "id")},
        "hash": entry["hash"],
    }
    assert someone["email"] not in str(event) and (event["mode"], event["sequence"]) == ("live", None)
    deliveries = (await site.ok("GET", f"/webhooks/{hook['id']}/deliveries"))["data"]
    assert event["id"] in [one["eventId"] for one in deliveries]
    await site.ok("DELETE", f"/webhooks/{hook['id']}")


async def test_a_log_that_was_changed_is_told_by_verify_audit(site: Site) -> None:
    [organisation] = {one["organisationId"] for one in await entries(site)}
    said: list[str] = []
    db, vault = site.runtime.db, site.runtime.vault
    assert await verify_trails.verify_all_trails(db, vault, organisation, None, said.append)
    assert said[-1].startswith("INTACT: 1 administrative log with ")

    async def cut_trail(tx: Transaction) -> None:
        """As somebody would who has the database alone: the last entry goes."""
        await tx.run("DROP TRIGGER audit_is_never_deleted")
        await tx.run(
            "DELETE FROM audit WHERE document_id = :id AND seq = "
            "(SELECT max(seq) FROM audit WHERE document_id = :id)",
            id=organisation,
        )

    await db.write(cut_trail)
    assert not await verify_trails.verify_all_trails(db, vault, organisation, None, said.append)
    assert "does not end with the entry that was written last" in said[-2]


async def test_who_may_only_read_documents_is_not_told_what_administrators_do(site: Site) -> None:
    """Over `GET /events`, whose scope a viewer's key has."""
    someone = await member(site)
    recorded = (await site.ok("GET", "/events?type=audit.recorded&limit=1"))["data"][0]
    for scopes in ({Scope.DOCUMENTS_READ}, {Scope.DOCUMENTS_READ, Scope.WEBHOOKS_READ}):
        key, may = await site.new_key(*scopes), Scope.WEBHOOKS_READ in scopes
        named = await site.ask("GET", "/events?type=audit.recorded", key=key)
        assert named.code == ("200" if may else "insufficient_scope")
        one = await site.ask("GET", f"/events/{recorded['id']}", key=key)
        assert one.code == ("200" if may else "not_found")
        everything = (await site.ok("GET", "/events?limit=100", key=key))["data"]
        assert any(event["type"] == "audit.recorded" for event in everything) == may
    assert someone

import re

import pytest

from esign.core.actor import Mode
from esign.core.people import api_key
from esign.core.people.api_key import Scope
from esign.web.api.endpoint_table import ENDPOINTS
from esign.web.rest import V1
from tests.api.site import Site, SiteAnswer, a_config, a_request, running
from tests.fakes import FakeClock
from tests.web.wire import Seen, ask

pytestmark = pytest.mark.asyncio(loop_scope="module")

REQUESTS, CREATES, SENDS, VERIFIES = 20, 3, 2, 2


@pytest.fixture(scope="module")
def limits() -> dict[str, int]:
    return {
        "requests_per_minute": REQUESTS,
        "creates_per_minute": CREATES,
        "sends_per_minute": SENDS,
        "verifies_per_minute": VERIFIES,
        "auth_failures_per_minute": 20,
    }


async def fresh(site: Site) -> str:
    """A key that has not been counted, at the beginning of a minute."""
    site.clock.advance(milliseconds=60_000 - site.clock.now() % 60_000)
    return await site.new_key()


def standing(answer: SiteAnswer | Seen) -> tuple[str, str, str, str, str]:
    names = (
        "ratelimit-policy",
        "ratelimit",
        *(f"x-ratelimit-{part}" for part in ("limit", "remaining", "reset")),
    )
    policy, now, limit, remaining, reset = (answer.headers[name] for name in names)
    return policy, now, limit, remaining, reset


async def test_every_answer_tells_both_families_of_headers(site: Site) -> None:
    key = await fresh(site)
    reset = str(site.clock.now() // 1000 + 60)
    for used in (1, 2):
        answer = await site.ask("GET", "/documents", key=key)
        left = str(REQUESTS - used)
        assert standing(answer) == (
            f'"default";q={REQUESTS};w=60', f'"default";r={left};t=60', str(REQUESTS), left, reset
        )  # fmt: skip
    site.clock.advance(seconds=18.5)
    assert standing(await site.ask("GET", "/documents/x", key=key))[1] == f'"default";r={REQUESTS - 3};t=42'


async def test_beyond_the_limit_everything_of_this_key_waits_for_the_next_minute(site: Site) -> None:
    key, other = await fresh(site), await site.new_key()
    site.clock.advance(seconds=50)
    answers = [await site.ask("GET", "/documents", key=key) for _ in range(REQUESTS + 1)]
    assert [answer.status for answer in answers] == [200] * REQUESTS + [429]
    refused = answers[-1]
    assert refused.code == "rate_limited" and refused.headers["retry-after"] == "10"
    assert standing(refused)[3] == "0"
    assert (await site.ask("GET", "/nowhere", key=key)).code == "rate_limited"
    assert (await site.ask("GET", "/documents", key=other)).status == 200
    site.clock.advance(seconds=10)
    assert (await site.ask("GET", "/documents", key=key)).status == 200


async def test_creating_counts_against_its_own_policy_too(site: Site) -> None:
    key = await fresh(site)
    answers = [await site.ask("POST", "/documents", {}, key=key) for _ in range(CREATES + 1)]
    assert [answer.code for answer in answers] == ["invalid_request"] * CREATES + ["rate_limited"]
    policy, now, limit, remaining, _ = standing(answers[0])
    assert policy == f'"default";q={REQUESTS};w=60, "create";q={CREATES};w=60'
    assert (now, limit, remaining) == (f'"create";r={CREATES - 1};t=60', str(CREATES), str(CREATES - 1))
    assert (await site.ask("GET", "/documents", key=key)).status == 200
    assert (await site.ask("POST", "/webhooks", {}, key=key)).code == "invalid_request"


async def test_sending_counts_against_its_own_policy_too(site: Site) -> None:
    key = await fresh(site)
    answers = [await site.ask("POST", "/documents/x/send", key=key) for _ in range(SENDS + 1)]
    assert [answer.code for answer in answers] == ["not_found"] * SENDS + ["rate_limited"]
    assert '"send";q=2;w=60' in standing(answers[-1])[0] and answers[-1].headers["retry-after"] == "60"


async def test_verifying_counts_against_its_own_policy_too(site: Site) -> None:
    key = await fresh(site)
    answers = [await site.ask("POST", "/verify", {}, key=key) for _ in range(VERIFIES + 1)]
    assert [answer.code for answer in answers] == ["invalid_request"] * VERIFIES + ["rate_limited"]
    assert standing(answers[0])[0] == f'"default";q={REQUESTS};w=60, "verify";q={VERIFIES};w=60'
    assert (await site.ask("GET", "/account", key=key)).status == 200


async def test_a_missing_scope_is_told_before_the_narrower_policy_counts(site: Site) -> None:
    await fresh(site)
    reader = await site.new_key(Scope.DOCUMENTS_READ)
    for _ in range(CREATES + 2):
        assert (await site.ask("POST", "/documents", {}, key=reader)).code == "insufficient_scope"


NARROWER = {  # contract 7
    "create": {
        "POST /documents",
        "POST /documents/{id}/duplicate",
        "POST /templates",
        "POST /templates/{id}/documents",
    },
    "send": {
        "POST /documents/{id}/send",
        "POST /documents/{id}/remind",
        "POST /documents/{id}/recipients/{rid}/link",
    },
    "verify": {"POST /verify"},
}


async def test_each_narrower_policy_has_the_endpoints_of_the_contract_and_no_other() -> None:
    found: dict[str, set[str]] = {}
    for endpoint in ENDPOINTS:
        if endpoint.policy is not None:
            found.setdefault(endpoint.policy, set()).add(
                f"{endpoint.method} {endpoint.path.removeprefix(V1)}"
            )
    assert found == NARROWER


async def test_the_tightest_policy_is_the_one_with_the_least_left(site: Site) -> None:
    key = await fresh(site)
    for _ in range(REQUESTS - CREATES):
        await site.ask("GET", "/account", key=key)
    for left in (2, 1, 0):  # both have the same left now: the wider one is named first
        answer = await site.ask("POST", "/documents", {}, key=key)
        assert standing(answer)[3] == str(left)
    assert (await site.ask("GET", "/account", key=key)).headers["ratelimit"].startswith('"default";r=0')


async def test_policies_that_are_off_are_not_spoken_of(tmp_path_factory: pytest.TempPathFactory) -> None:
    async with running(a_config(tmp_path_factory.mktemp("off"), requests_per_minute=600)) as site:
        answer = await site.ask("POST", "/documents", {})
        assert standing(answer)[0] == '"default";q=600;w=60'


# ---------- failed authentication (A19) ----------


def a_wrong_key(number: int) -> str:
    return api_key.compose_key(Mode.LIVE, f"{number:030}")


async def guess(port: int, number: int, *lines: str) -> Seen:
    header = f"Authorization: Bearer {a_wrong_key(number)}"
    return await ask(port, "GET", "/api/v1/documents", None, header, *lines)


async def test_guesses_from_one_address_are_throttled_whatever_it_says_of_itself(site: Site) -> None:
    await fresh(site)
    seen = [await guess(site.port, n, f"X-Forwarded-For: 203.0.113.{n}") for n in range(25)]
    assert [one.status for one in seen] == [401] * 20 + [429] * 5
    assert seen[20].code == "too_many_auth_failures" and 1 <= int(seen[20].headers["retry-after"]) <= 60
    # a valid key is never held up, a missing or misshaped one is always a 401
    assert (await site.ask("GET", "/documents", key=await site.new_key())).status == 200
    assert (await ask(site.port, "GET", "/api/v1/documents")).code == "missing_api_key"
    bad = await ask(site.port, "GET", "/api/v1/documents", None, "Authorization: Bearer esk_live_x")
    assert bad.code == "invalid_api_key"
    site.clock.advance(minutes=1)
    assert (await guess(site.port, 99)).code == "invalid_api_key"


async def test_through_a_trusted_proxy_the_address_it_vouches_for_counts(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    config = a_config(tmp_path_factory.mktemp("proxy"), auth_failures_per_minute=2)
    server = type(config.server).model_validate(
        {**config.server.model_dump(), "trusted_proxies": ["127.0.0.0/8"]}
    )
    async with running(config.model_copy(update={"server": server}), FakeClock()) as site:
        real = "X-Forwarded-For: 9.9.9.9, 198.51.100.7"
        assert [(await guess(site.port, n, real)).status for n in range(3)] == [401, 401, 429]
        assert (await guess(site.port, 4, "X-Forwarded-For: 1.1.1.1, 198.51.100.8")).status == 401
        headers = {"X-Forwarded-For": "9.9.9.9, 198.51.100.9"}
        made = await site.ask("POST", "/documents", a_request(), headers=headers)
        [entry] = await site.trail(made.body["id"])
        assert entry["ip"] == "198.51.100.9"


async def test_from_anybody_else_the_header_means_nothing(site: Site) -> None:
    key = await fresh(site)
    made = await site.ask("POST", "/documents", a_request(), key=key, headers={"X-Forwarded-For": "1.2.3.4"})
    page = await site.ok("GET", f"/documents/{made.body['id']}/audit", key=key)
    assert page["data"][0]["ip"] == "127.0.0.1"


async def test_a_request_id_is_the_server_s_own(site: Site) -> None:
    answer = await site.ask("GET", "/documents", key=await fresh(site), headers={"X-Request-Id": "mine"})
    assert re.fullmatch("req_[0-9a-z]{26}", answer.headers["x-request-id"])

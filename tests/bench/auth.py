"""What it costs to know who asks: a GET of one document with its key looked up, and the same with the key known.

One process serves both over the same runtime, the client is another one, on a single connection; what counts is the CPU
time of the serving process for each request.
"""

import statistics
import tempfile
import time
from pathlib import Path
from typing import cast

from starlette.types import ASGIApp

from esign.actions.people import accounts
from esign.actions.people.accounts import KeyWish
from esign.app import open_runtime
from esign.config import Config, LimitSettings, StorageSettings
from esign.core.actor import Mode
from esign.core.people import api_key
from esign.core.people.api_key import ApiKey, Scope
from esign.runtime import Runtime
from esign.store.people import api_keys
from esign.web.api.endpoint_table import ENDPOINTS
from esign.web.http.request_guard import Guard
from esign.web.http.server import run_server
from esign.web.rest.auth import Authentication
from esign.web.rest.pipeline import Api
from tests.bench.drive import drive_wrk
from tests.bench.installation import document, dumps, padded_pdf

ROUNDS = 9
SECONDS = 2
MOST = 1.3


class Known:
    """Stands where authentication stands, and looks at nothing."""

    def __init__(self, key: ApiKey) -> None:
        self._key = key

    async def key(self, authorization: list[bytes], address: str) -> ApiKey:
        return self._key

    async def settle(self) -> None:
        pass


async def run() -> None:
    with tempfile.TemporaryDirectory() as name:
        limits = LimitSettings(requests_per_minute=100_000)
        config = Config(storage=StorageSettings(data_dir=Path(name)), limits=limits)
        async with open_runtime(config) as runtime:
            await compare(runtime)


async def compare(runtime: Runtime) -> None:
    wish = KeyWish("bench", Mode.LIVE, frozenset((Scope.ALL,)))
    _, text = await accounts.create_key(runtime.installation, wish)
    key = await api_keys.find_by_hash(runtime.db, api_key.hash_key(text))
    assert key is not None
    asked, known = Api(runtime, ENDPOINTS), Api(runtime, ENDPOINTS)
    known._keys = cast(Authentication, Known(key))
    async with (
        run_server(guard_api(asked, runtime), "127.0.0.1", 0) as with_it,
        run_server(guard_api(known, runtime), "127.0.0.1", 0) as without,
    ):
        path = f"/api/v1/documents/{await create_document(with_it.port, text)}"
        costs: dict[int, list[float]] = {with_it.port: [], without.port: []}
        for _ in range(ROUNDS):
            for port, spent in costs.items():
                spent.append(await cost(f"http://127.0.0.1:{port}{path}", text))
    await asked.settle()
    looked_up, bare = costs[with_it.port], costs[without.port]
    ratio = statistics.median(a / b for a, b in zip(looked_up, bare, strict=True))
    print(f"GET /documents/{{id}}, key known      {1e6 * statistics.median(bare):8.0f} µs of CPU")
    print(f"GET /documents/{{id}}, key looked up  {1e6 * statistics.median(looked_up):8.0f} µs of CPU")
    print(f"ratio, median of {ROUNDS} rounds          {ratio:8.2f}   (at most {MOST})")


def guard_api(api: Api, runtime: Runtime) -> ASGIApp:
    return Guard(api, clock=runtime.clock)


async def create_document(port: int, key: str) -> str:
    import aiohttp

    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    async with (
        aiohttp.ClientSession(headers=headers) as client,
        client.post(
            f"http://127.0.0.1:{port}/api/v1/documents", data=dumps(document(padded_pdf(20_000)))
        ) as answer,
    ):
        return str((await answer.json())["id"])


async def cost(url: str, key: str) -> float:
    """Seconds of CPU for each request."""
    began = time.process_time()
    found = await drive_wrk(url, {"Host": "localhost", "Authorization": f"Bearer {key}"}, 1, SECONDS)
    return (time.process_time() - began) / found.count

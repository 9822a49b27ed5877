"""Takes over a new application key while `esign keys rotate-app` exchanges it beside the server."""

from esign.actions.server import exchange_app_key
from esign.runtime import Runtime


async def tick(runtime: Runtime) -> int:
    """Look whether the key is exchanged. Return 1 if something changed, else 0."""
    return await exchange_app_key.follow_exchange(runtime)

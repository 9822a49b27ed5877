"""Signing links as a recipient uses them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.bench.installation import BenchInstallation


@dataclass(frozen=True, slots=True)
class OpenLink:
    """The address that one recipient has opened, and the consent that they complete with."""

    address: str
    consent: str

    def build_completion(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Return the body of the act that completes, with values by the ids of fields."""
        return {"answers": answers, "consent": self.consent}


async def make_link(at: BenchInstallation, path: str, recipient_id: str) -> str:
    """Return the address by which a recipient of a sent document signs."""
    return str((await at.call("POST", f"{path}/recipients/{recipient_id}/link", {}))["url"])


async def open_link(at: BenchInstallation, path: str, recipient_id: str) -> OpenLink:
    """Read the document as the recipient."""
    address = await make_link(at, path, recipient_id)
    consent = re.search(r'data-consent="([0-9a-f]{64})"', await at.text(address))
    if consent is None:
        raise RuntimeError("the signing page did not open")
    await at.call("POST", f"{address}/view", {})
    return OpenLink(address, consent[1])

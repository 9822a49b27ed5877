"""The number of documents of each status, kept up to date by triggers so that reading it is cheap."""

from collections.abc import Mapping
from dataclasses import dataclass

from esign.core.actor import Owner
from esign.core.document.document import Status
from esign.store.engine.database import Reader


@dataclass(frozen=True, slots=True)
class StatusCounts:
    """The number of documents by status, and how many of them need attention (core/attention)."""

    of: Mapping[Status, int]
    attention: int

    @property
    def all(self) -> int:
        """Return the number of documents of all statuses."""
        return sum(self.of.values())


NOTHING = StatusCounts(dict.fromkeys(Status, 0), 0)


async def find(reader: Reader, owner: Owner) -> StatusCounts:
    """Return the counts of an owner; every status has a number."""
    rows = await reader.all(
        "SELECT status, documents, attention FROM document_count"
        " WHERE organisation_id = :organisation_id AND mode = :mode",
        organisation_id=owner.organisation_id,
        mode=owner.mode.value,
    )
    known = {Status(row["status"]): int(row["documents"]) for row in rows}
    return StatusCounts(
        {status: known.get(status, 0) for status in Status}, sum(int(row["attention"]) for row in rows)
    )

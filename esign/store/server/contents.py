"""How much a database holds, in numbers an administrator can compare with memory."""

from dataclasses import dataclass

from esign.core.instant import Instant
from esign.store.engine.database import Reader


@dataclass(frozen=True, slots=True)
class Contents:
    """How many organisations, users and documents there are, how many of these are completed, and the latest change."""

    organisations: int
    users: int
    documents: int
    completed: int
    latest: Instant | None


async def count_contents(reader: Reader) -> Contents:
    """Return what the database holds. It reads all documents."""
    rows = await reader.all(
        """
        SELECT (SELECT count(*) FROM organisation) AS organisations, (SELECT count(*) FROM app_user) AS users,
            (SELECT count(*) FROM document) AS documents,
            (SELECT count(*) FROM document WHERE status = 'completed') AS completed,
            (SELECT max(at) FROM audit) AS latest
        """
    )
    return Contents(**dict(rows[0]))

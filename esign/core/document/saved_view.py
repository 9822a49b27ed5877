"""A saved view: filters of the document list under a name, for one member or the whole organisation."""

from dataclasses import dataclass

from esign.core.actor import Mode
from esign.core.instant import Instant

MOST = 50  # of one member


@dataclass(frozen=True, slots=True)
class SavedView:
    """A saved view. `query` is the query of the list's address; `member_id` is None once the member has left."""

    id: str
    organisation_id: str
    mode: Mode
    member_id: str | None
    name: str
    query: str
    shared: bool
    created_at: Instant

    def may_change(self, member_id: str, leads: bool) -> bool:
        """Return whether a member may change it: their own, and with `leads` what others share."""
        return self.member_id == member_id or (self.shared and leads)

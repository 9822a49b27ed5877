"""One indexed statement for each way to find a page of documents; `listing` chooses the way.

Every statement answers `id` and `at` (the time that orders) of at most :limit documents `d`, in order. INDEXED BY names
the index to walk along: a plan is chosen here and tested, not guessed by the database from what it has counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from esign.core.actor import Mode
from esign.core.document.document_filters import Listing, Span
from esign.core.instant import Instant
from esign.store.document import search
from esign.store.engine import search_words
from esign.store.engine.paging import Place
from esign.store.engine.sql import listed

FOREVER: Instant = 2**50
Bound = tuple[Instant, str]

ALONG = {"created_at": "document_newest", "updated_at": "document_recent"}
ALONG_STATUS = {"created_at": "document_newest_of_status", "updated_at": "document_recent_of_status"}
ALONG_ATTENTION = {"created_at": "document_newest_of_attention", "updated_at": "document_recent_of_attention"}
ALONG_SPAN = {
    "created_at": "document_newest",
    "updated_at": "document_recent",
    "completed_at": "document_completed",
}


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked as the pieces of statements; the walk lies between `low` and `high`, both exclusive."""

    asked: Listing
    low: Bound
    high: Bound
    scope: Mapping[str, Any]

    @property
    def key(self) -> str:
        return self.asked.sort.key

    @property
    def order(self) -> str:
        return "DESC" if self.asked.sort.descending else "ASC"

    @property
    def spans(self) -> dict[str, Span]:
        """The spans of the times that do not order."""
        asked = {
            "created_at": self.asked.created,
            "updated_at": self.asked.updated,
            "completed_at": self.asked.completed,
        }
        return {name: span for name, span in asked.items() if name != self.key and span != Span()}

    @property
    def words(self) -> str:
        """What the index of words is asked; nothing where no filter needs it."""
        asked = self.asked
        labels = {"external": asked.external_id, "template": asked.template_id}
        if asked.recipient_email is not None:
            labels["email"] = search_words.plain(asked.recipient_email)
        owner = f"{self.scope['organisation_id']} {self.scope['mode']}"
        given = [
            search_words.label(owner, kind, value) for kind, value in labels.items() if value is not None
        ]
        if asked.q is None:
            return search_words.exactly(given)
        labels_of_owner = search_words.exactly(given or [search_words.label(owner, "all", "")])
        return f"{labels_of_owner} {search_words.asked(search_words.plain(asked.q))}"

    @property
    def parameters(self) -> dict[str, Any]:
        asked = self.asked
        values = {
            **self.scope,
            **listed("status", sorted(asked.statuses))[1],
            "external_id": asked.external_id,
            "template_id": asked.template_id,
            "q": None if asked.q is None else search_words.plain(asked.q),
            "address": (
                None
                if asked.recipient_email is None
                else search_words.END + search_words.address(asked.recipient_email) + search_words.END
            ),
            "words": self.words,
            "low": self.low[0],
            "low_id": self.low[1],
            "high": self.high[0],
            "high_id": self.high[1],
        }
        for name, span in self.spans.items():
            values |= {f"{name}_after": span.after, f"{name}_before": span.before}
        return values

    # ---------- ways ----------

    def by_time(self, near: int | None = None) -> str:
        """Along the order itself; `near`: looking at so many rows at most."""
        return self._walk(ALONG[self.key], *self._statuses(), near=near)

    def by_status(self) -> str:
        """Along the order within each status asked for; a page of each is merged."""
        walks = [
            self._walk(ALONG_STATUS[self.key], f"d.status = :status_{n}")
            for n in range(len(self.asked.statuses))
        ]
        if len(walks) == 1:
            return walks[0]
        pages = " UNION ALL ".join(f"SELECT * FROM ({walk})" for walk in walks)
        return f"SELECT * FROM ({pages}) ORDER BY at {self.order}, id {self.order} LIMIT :limit"

    def by_attention(self) -> str:
        """Along the order among the few that need attention."""
        return self._walk(ALONG_ATTENTION[self.key], *self._statuses())

    def by_span(self, name: str) -> str:
        """Everything in a span of another time, then put in order."""
        return self._walk(ALONG_SPAN[name], *self._statuses())

    def by_words(self, near: int | None = None) -> str:
        """Along the index of words, which has the order of creation; any other is made afterwards."""
        found, order = both(*self._found()), f"at {self.order}, d.id {self.order}"
        if self.key == "created_at":
            order = f"i.rowid {self.order}"
        index = "search_index i"
        if near is not None:
            rows = f"SELECT rowid FROM search_index i WHERE {found} ORDER BY {order} LIMIT {near}"
            index, found = f"({rows}) i", "true"
        return f"""
            SELECT d.id, d.{self.key} AS at FROM {index}
            CROSS JOIN search s ON s.number = i.rowid CROSS JOIN document d ON d.id = s.document_id
            WHERE {both(found, *self._texts(), *self._common(), *self._statuses())}
            ORDER BY {order} LIMIT :limit
        """

    # ---------- how many rows a way would read, up to :most ----------

    def count_status(self) -> str:
        index = ALONG_STATUS[self.key]
        return (
            f"SELECT 1 FROM document d INDEXED BY {index} WHERE {both(*OWN, *self._statuses())} LIMIT :most"
        )

    def count_attention(self) -> str:
        index = ALONG_ATTENTION[self.key]
        return f"SELECT 1 FROM document d INDEXED BY {index} WHERE {both(*OWN, ATTENTION)} LIMIT :most"

    def count_span(self, name: str) -> str:
        index = ALONG_SPAN[name]
        return (
            f"SELECT 1 FROM document d INDEXED BY {index} WHERE {both(*OWN, *self._span(name))} LIMIT :most"
        )

    def count_words(self) -> str:
        return f"SELECT 1 FROM search_index i WHERE {both(*self._found())} LIMIT :most"

    # ---------- conditions ----------

    def _walk(self, index: str, *first: str, near: int | None = None) -> str:
        table, order = f"document d INDEXED BY {index}", f"d.{self.key} {self.order}, d.id {self.order}"
        if near is not None:
            columns = ", ".join(f"d.{name}" for name in self._checked())
            rows = f"SELECT {columns} FROM {table} WHERE {both(*OWN, *self._ends())}"
            table = f"({rows} ORDER BY {order} LIMIT {near}) d"
        texts = self._texts()
        row = f"EXISTS (SELECT 1 FROM search s WHERE s.document_id = d.id AND {both(*texts)})"
        return f"""
            SELECT d.id, d.{self.key} AS at FROM {table}
            WHERE {both(*first, *self._common(), *([row] if texts else []))}
            ORDER BY {order} LIMIT :limit
        """

    def _common(self) -> list[str]:
        return [
            *OWN,
            *self._ends(),
            *([ATTENTION] if self.asked.attention else []),
            *(condition for name in self.spans for condition in self._span(name)),
            *(["d.external_id = :external_id"] if self.asked.external_id is not None else []),
            *(["d.template_id = :template_id"] if self.asked.template_id is not None else []),
        ]

    def _checked(self) -> list[str]:
        """The columns that the conditions speak of."""
        asked = self.asked
        return [
            *("id", "organisation_id", "mode", "status", "created_at", "updated_at", "completed_at"),
            *(["attention"] if asked.attention else []),
            *(["external_id"] if asked.external_id is not None else []),
            *(["template_id"] if asked.template_id is not None else []),
        ]

    def _ends(self) -> list[str]:
        key = f"(d.{self.key}, d.id)"
        return [f"{key} > (:low, :low_id)", f"{key} < (:high, :high_id)"]

    def _span(self, name: str) -> list[str]:
        span = self.spans[name]
        return [
            *([f"d.{name} >= :{name}_after"] if span.after is not None else []),
            *([f"d.{name} < :{name}_before"] if span.before is not None else []),
        ]

    def _statuses(self) -> list[str]:
        names, _ = listed("status", sorted(self.asked.statuses))
        return [f"d.status IN {names}"] if self.asked.statuses else []

    def _texts(self) -> list[str]:
        return [
            *(["instr(s.texts, :q) > 0"] if self.asked.q is not None else []),
            *(["instr(s.texts, :address) > 0"] if self.asked.recipient_email is not None else []),
        ]

    def _found(self) -> list[str]:
        """Numbers follow creation: where that orders, the walk begins and ends in the index itself."""
        ends = [f"i.rowid >= :low * {search.SLOTS}", f"i.rowid < (:high + 1) * {search.SLOTS}"]
        return ["i.search_index MATCH :words", *(ends if self.key == "created_at" else [])]


OWN = ("d.organisation_id = :organisation_id", "d.mode = :mode")
ATTENTION = "d.attention = 1"


def both(*conditions: str) -> str:
    return " AND ".join(conditions)


def query_of(organisation_id: str, mode: Mode, asked: Listing, after: Place | None, regular: bool) -> Query:
    """What follows `after`. Where times are `regular` (created ≤ completed ≤ updated) one span bounds another."""
    span = asked.created if asked.sort.key == "created_at" else asked.updated
    lows, highs = [(0, "")], [(FOREVER, "")]
    lows += [(span.after, "")] if span.after is not None else []
    highs += [(span.before, "")] if span.before is not None else []
    if after is not None:
        (highs if asked.sort.descending else lows).append((after.at, after.id))
    if regular and asked.sort.key == "created_at":
        ends = (asked.completed.before, asked.updated.before)
        highs += [(end, "") for end in ends if end is not None]
    elif regular:
        begins = (asked.completed.after, asked.created.after)
        lows += [(begin, "") for begin in begins if begin is not None]
    return Query(asked, max(lows), min(highs), {"organisation_id": organisation_id, "mode": mode.value})

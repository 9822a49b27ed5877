"""One indexed statement for each way to find a page of documents; `document_pages` chooses the way.

Every statement returns `id` and `at` (the time that orders) of at most :limit documents `d`, in order. INDEXED
BY names the index to walk along: the plan is chosen here and tested, not left to SQLite's statistics.
"""

from dataclasses import dataclass

from esign.core.actor import Owner
from esign.core.document.document_filters import DocumentFilters, Span
from esign.core.instant import Instant
from esign.store.engine import search_index, search_words
from esign.store.engine.paging import PageStart
from esign.store.engine.sql import list_parameters

FOREVER: Instant = 2**50
Bound = tuple[Instant, str]

ALONG = {"created_at": "document_newest", "updated_at": "document_recent"}
ALONG_STATUS = {"created_at": "document_newest_of_status", "updated_at": "document_recent_of_status"}
ALONG_ATTENTION = {"created_at": "document_newest_of_attention", "updated_at": "document_recent_of_attention"}
ALONG_SENDER = "document_newest_of_sender"
ALONG_SPAN = {
    "created_at": "document_newest",
    "updated_at": "document_recent",
    "completed_at": "document_completed",
}


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page of the documents of one owner: up to `limit` of those that match, after the place `after`."""

    owner: Owner
    asked: DocumentFilters
    limit: int
    after: PageStart | None = None


@dataclass(frozen=True, slots=True)
class ListQuery:
    """One request for a page, as the pieces of its statements.

    The rows lie between `low` and `high`, both exclusive.
    """

    asked: DocumentFilters
    low: Bound
    high: Bound
    owner: Owner

    @property
    def key(self) -> str:
        """Return the column that orders."""
        return self.asked.sort.key

    @property
    def order(self) -> str:
        """Return the direction in SQL."""
        return "DESC" if self.asked.sort.descending else "ASC"

    @property
    def spans(self) -> dict[str, Span]:
        """Return the spans of the times that do not order."""
        asked = {
            "created_at": self.asked.created,
            "updated_at": self.asked.updated,
            "completed_at": self.asked.completed,
        }
        return {name: span for name, span in asked.items() if name != self.key and span != Span()}

    @property
    def words(self) -> str:
        """Return the expression for the index of words, empty if no filter needs it."""
        asked = self.asked
        labels = {"external": asked.external_id, "template": asked.template_id}
        if asked.recipient_email is not None:
            labels["email"] = search_words.fold_plain(asked.recipient_email)
        owner = f"{self.owner.organisation_id} {self.owner.mode.value}"
        given = [
            search_words.make_label(owner, kind, value) for kind, value in labels.items() if value is not None
        ]
        if asked.q is None:
            return search_words.match_all(given)
        labels_of_owner = search_words.match_all(given or [search_words.make_label(owner, "all", "")])
        return f"{labels_of_owner} {search_words.match_part(search_words.fold_plain(asked.q))}"

    @property
    def parameters(self) -> dict[str, object]:
        """Return the values of every parameter that a statement may use."""
        asked = self.asked
        values = {
            "organisation_id": self.owner.organisation_id,
            "mode": self.owner.mode.value,
            **list_parameters("status", sorted(asked.statuses))[1],
            "external_id": asked.external_id,
            "template_id": asked.template_id,
            "sender_id": asked.sender_id,
            "q": None if asked.q is None else search_words.fold_plain(asked.q),
            "address": (
                None
                if asked.recipient_email is None
                else search_words.END + search_words.mark_address(asked.recipient_email) + search_words.END
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

    def walk_by_time(self, near: int | None = None) -> str:
        """Return the statement that walks along the order itself, over at most `near` rows if that is given."""
        return self._walk(ALONG[self.key], *self._statuses(), near=near)

    def walk_by_status(self) -> str:
        """Return the statement that walks along the order within each wanted status and merges the pages."""
        walks = [
            self._walk(ALONG_STATUS[self.key], f"d.status = :status_{n}")
            for n in range(len(self.asked.statuses))
        ]
        if len(walks) == 1:
            return walks[0]
        pages = " UNION ALL ".join(f"SELECT * FROM ({walk})" for walk in walks)
        return f"SELECT * FROM ({pages}) ORDER BY at {self.order}, id {self.order} LIMIT :limit"

    def walk_by_attention(self) -> str:
        """Return the statement that walks along the order among the documents that need attention."""
        return self._walk(ALONG_ATTENTION[self.key], *self._statuses())

    def walk_by_sender(self) -> str:
        """Return the statement that walks along the creation of one sender's documents.

        For any other order the rows are sorted.
        """
        return self._walk(ALONG_SENDER, *self._statuses())

    def read_by_span(self, name: str) -> str:
        """Return the statement that reads everything in a span of another time and sorts it."""
        return self._walk(ALONG_SPAN[name], *self._statuses())

    def walk_by_words(self, near: int | None = None) -> str:
        """Return the statement that uses the index of words.

        That index has the order of creation; for any other order the rows are sorted. With `near` it reads at
        most so many rows.
        """
        found, order = join_conditions(*self._match_words()), f"at {self.order}, d.id {self.order}"
        if self.key == "created_at":
            order = f"i.rowid {self.order}"
        index = "search_index i"
        if near is not None:
            rows = f"SELECT rowid FROM search_index i WHERE {found} ORDER BY {order} LIMIT {near}"
            index, found = f"({rows}) i", "true"
        return f"""
            SELECT d.id, d.{self.key} AS at FROM {index}
            CROSS JOIN search s ON s.number = i.rowid CROSS JOIN document d ON d.id = s.document_id
            WHERE {join_conditions(found, *self._texts(), *self._common(), *self._statuses())}
            ORDER BY {order} LIMIT :limit
        """

    # ---------- how many rows a way would read, up to :most ----------

    def count_status(self) -> str:
        """Return the statement with a row for each document of the wanted statuses."""
        index = ALONG_STATUS[self.key]
        conditions = join_conditions(*OWN, *self._statuses())
        return f"SELECT 1 FROM document d INDEXED BY {index} WHERE {conditions} LIMIT :most"

    def count_attention(self) -> str:
        """Return the statement with a row for each document that needs attention."""
        index = ALONG_ATTENTION[self.key]
        return f"SELECT 1 FROM document d INDEXED BY {index} WHERE {join_conditions(*OWN, ATTENTION)} LIMIT :most"

    def count_sender(self) -> str:
        """Return the statement with a row for each document of the sender."""
        conditions = join_conditions(*OWN, SENDER)
        return f"SELECT 1 FROM document d INDEXED BY {ALONG_SENDER} WHERE {conditions} LIMIT :most"

    def count_span(self, name: str) -> str:
        """Return the statement with a row for each document in the span."""
        index = ALONG_SPAN[name]
        conditions = join_conditions(*OWN, *self._span(name))
        return f"SELECT 1 FROM document d INDEXED BY {index} WHERE {conditions} LIMIT :most"

    def count_words(self) -> str:
        """Return the statement with a row for each document that the words find."""
        return f"SELECT 1 FROM search_index i WHERE {join_conditions(*self._match_words())} LIMIT :most"

    # ---------- conditions ----------

    def _walk(self, index: str, *first: str, near: int | None = None) -> str:
        """Return a statement along `index`, with the conditions `first` before all others."""
        table, order = f"document d INDEXED BY {index}", f"d.{self.key} {self.order}, d.id {self.order}"
        if near is not None:
            columns = ", ".join(f"d.{name}" for name in self._list_columns())
            rows = f"SELECT {columns} FROM {table} WHERE {join_conditions(*OWN, *self._ends())}"
            table = f"({rows} ORDER BY {order} LIMIT {near}) d"
        texts = self._texts()
        row = f"EXISTS (SELECT 1 FROM search s WHERE s.document_id = d.id AND {join_conditions(*texts)})"
        return f"""
            SELECT d.id, d.{self.key} AS at FROM {table}
            WHERE {join_conditions(*first, *self._common(), *([row] if texts else []))}
            ORDER BY {order} LIMIT :limit
        """

    def _common(self) -> list[str]:
        """Return the conditions that every way has, apart from statuses and texts."""
        return [
            *OWN,
            *self._ends(),
            *([ATTENTION] if self.asked.attention else []),
            *([SENDER] if self.asked.sender_id is not None else []),
            *(condition for name in self.spans for condition in self._span(name)),
            *(["d.external_id = :external_id"] if self.asked.external_id is not None else []),
            *(["d.template_id = :template_id"] if self.asked.template_id is not None else []),
        ]

    def _list_columns(self) -> list[str]:
        """Return the columns that the conditions use."""
        asked = self.asked
        return [
            *("id", "organisation_id", "mode", "status", "created_at", "updated_at", "completed_at"),
            *(["attention"] if asked.attention else []),
            *(["sender_id"] if asked.sender_id is not None else []),
            *(["external_id"] if asked.external_id is not None else []),
            *(["template_id"] if asked.template_id is not None else []),
        ]

    def _ends(self) -> list[str]:
        """Return the conditions for the place where the page begins and ends."""
        key = f"(d.{self.key}, d.id)"
        return [f"{key} > (:low, :low_id)", f"{key} < (:high, :high_id)"]

    def _span(self, name: str) -> list[str]:
        """Return the conditions for one span."""
        span = self.spans[name]
        return [
            *([f"d.{name} >= :{name}_after"] if span.after is not None else []),
            *([f"d.{name} < :{name}_before"] if span.before is not None else []),
        ]

    def _statuses(self) -> list[str]:
        """Return the condition on the status, if there is one."""
        names, _ = list_parameters("status", sorted(self.asked.statuses))
        return [f"d.status IN {names}"] if self.asked.statuses else []

    def _texts(self) -> list[str]:
        """Return the conditions that compare the whole text, since the index only knows groups of three letters."""
        return [
            *(["instr(s.texts, :q) > 0"] if self.asked.q is not None else []),
            *(["instr(s.texts, :address) > 0"] if self.asked.recipient_email is not None else []),
        ]

    def _match_words(self) -> list[str]:
        """Return the conditions on the index of words.

        Its row numbers follow creation: in that order, the walk begins and ends inside the index.
        """
        ends = [f"i.rowid >= :low * {search_index.SLOTS}", f"i.rowid < (:high + 1) * {search_index.SLOTS}"]
        return ["i.search_index MATCH :words", *(ends if self.key == "created_at" else [])]


OWN = ("d.organisation_id = :organisation_id", "d.mode = :mode")
ATTENTION = "d.attention = 1"
SENDER = "d.sender_id = :sender_id"


def join_conditions(*conditions: str) -> str:
    """Join the conditions with AND."""
    return " AND ".join(conditions)


def make_query(request: PageRequest, regular: bool) -> ListQuery:
    """Return the query for a page.

    Where times are `regular` (created ≤ completed ≤ updated), a span of one time also bounds the others.
    """
    asked, after = request.asked, request.after
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
    return ListQuery(asked, max(lows), min(highs), request.owner)

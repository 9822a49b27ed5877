"""The words of a document in the full-text index: its texts by threes of letters, and labels for whole values.

FTS5 finds three letters in a row directly, and one or two by their prefix. Whether a document really contains a
longer text is then checked in its row. Labels (owner, recipients' addresses, external id, template) are words
of the same index, so that every combination is one walk along one index.
"""

import sqlite3
from collections.abc import Iterable
from hashlib import blake2b

import orjson

from esign.core.fold_text import fold

END = "\n"  # of a line; appended twice, so that three characters begin with each letter
ADDRESS = "\t"  # begins a line that is an address
CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")
# The tokenizer splits at ASCII characters other than letters and digits; they are written as private characters.
LETTERS = {n: 0xE000 + n for n in range(0x80) if not chr(n).isalnum()}
LABEL = "\uf8ff"


def join_texts(title: str, file_name: str, external_id: str | None, people: Iterable[tuple[str, str]]) -> str:
    """Return every text that `q` searches, folded, as a line of its own; `people` are names and addresses."""
    lines = [fold_plain(title), fold_plain(file_name), fold_plain(external_id or "")]
    for name, email in people:
        lines += [fold_plain(name), mark_address(email)]
    return "".join(END + line for line in lines) + END


def fold_plain(text: str) -> str:
    """Return `text` folded, with control characters replaced by spaces."""
    return fold(text).translate(CONTROLS)


def mark_address(email: str) -> str:
    """Return the line of an address."""
    return ADDRESS + fold_plain(email)


def join_labels(
    organisation_id: str,
    mode: str,
    external_id: str | None,
    template_id: str | None,
    emails: Iterable[str],
) -> str:
    """Return every label of a document; the first names its owner."""
    owner = f"{organisation_id} {mode}"
    given = {"external": external_id, "template": template_id}
    found = [make_label(owner, kind, value) for kind, value in given.items() if value is not None]
    addresses = {make_label(owner, "email", fold_plain(email)) for email in emails}
    return " ".join([make_label(owner, "all", ""), *found, *sorted(addresses)])


def make_label(owner: str, kind: str, value: str) -> str:
    """Return a word that occurs in no text, for a value of one organisation and mode."""
    return LABEL + blake2b(f"{owner} {kind} {value}".encode(), digest_size=8).hexdigest()


def list_words(texts: str, labels: str) -> str:
    """Return everything that the index holds of one document."""
    found = {
        word for line in texts.split(END) if line for word in split_threes(line.lstrip(ADDRESS) + 2 * END)
    }
    return " ".join([*sorted(found), labels])


def split_threes(line: str) -> Iterable[str]:
    """Yield every three characters in a row of a line."""
    letters = line.translate(LETTERS)
    return (letters[n : n + 3] for n in range(len(letters) - 2))


def match_part(q: str) -> str:
    """Return the index expression for a part of a text, which is folded already."""
    if len(q) < 3:
        return f'"{q.translate(LETTERS)}" *'
    return match_all(dict.fromkeys(split_threes(q)))


def match_all(wanted: Iterable[str]) -> str:
    """Return the index expression for all of these words."""
    return " ".join(f'"{word}"' for word in wanted)


# ---------- what a connection needs before it writes ----------

ERASES_AT_ONCE = sqlite3.sqlite_version_info >= (3, 42)


def prepare(connection: sqlite3.Connection) -> None:
    """Make FTS5 erase removed words at once, where this version of SQLite can."""
    if ERASES_AT_ONCE:
        connection.execute("INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1)")


# ---------- for the migration that fills it ----------


def register(connection: sqlite3.Connection) -> None:
    """Define the SQL functions that migration 0003 calls for the rows that existed before it."""

    def texts_of(title: str, file: str, external_id: str | None, recipients: str) -> str:
        """Return the texts of a row."""
        return join_texts(title, orjson.loads(file)["name"], external_id, orjson.loads(recipients))

    def labels_of(
        organisation: str, mode: str, external_id: str | None, template_id: str | None, recipients: str
    ) -> str:
        """Return the labels of a row."""
        emails = [email for _, email in orjson.loads(recipients)]
        return join_labels(organisation, mode, external_id, template_id, emails)

    connection.create_function("search_texts", 4, texts_of, deterministic=True)
    connection.create_function("search_labels", 5, labels_of, deterministic=True)
    connection.create_function("search_words", 2, list_words, deterministic=True)

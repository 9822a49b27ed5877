"""The words that the index of documents has of each: letters by threes, and labels that name a whole value.

FTS5 finds three letters in a row by themselves and one or two by their prefix. Whether a document really has a longer
text is then read from its row. Labels (of whom the document is, its recipients' addresses, its external id, its
template) are words of the same index, so that every combination is one walk along one index.
"""

import sqlite3
from collections.abc import Iterable
from hashlib import blake2b

import orjson

from esign.core.fold_text import fold

END = "\n"  # of a line; twice, so that each letter begins three in a row
ADDRESS = "\t"  # before a line that is an address
CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")
# The tokenizer splits at whatever is ASCII and no letter or digit: those stand as private characters.
LETTERS = {n: 0xE000 + n for n in range(0x80) if not chr(n).isalnum()}
LABEL = "\uf8ff"


def texts(title: str, file_name: str, external_id: str | None, people: Iterable[tuple[str, str]]) -> str:
    """Each text that `q` looks into, folded, as a line of its own; `people` are names and addresses."""
    lines = [plain(title), plain(file_name), plain(external_id or "")]
    for name, email in people:
        lines += [plain(name), address(email)]
    return "".join(END + line for line in lines) + END


def plain(text: str) -> str:
    return fold(text).translate(CONTROLS)


def address(email: str) -> str:
    return ADDRESS + plain(email)


def labels(
    organisation_id: str,
    mode: str,
    external_id: str | None,
    template_id: str | None,
    emails: Iterable[str],
) -> str:
    """Every label of a document; the first says whose it is."""
    owner = f"{organisation_id} {mode}"
    given = {"external": external_id, "template": template_id}
    found = [label(owner, kind, value) for kind, value in given.items() if value is not None]
    addresses = {label(owner, "email", plain(email)) for email in emails}
    return " ".join([label(owner, "all", ""), *found, *sorted(addresses)])


def label(owner: str, kind: str, value: str) -> str:
    """A word that no text has, for a value of one organisation and mode."""
    return LABEL + blake2b(f"{owner} {kind} {value}".encode(), digest_size=8).hexdigest()


def words(texts: str, labels: str) -> str:
    """Everything the index has of one document."""
    found = {word for line in texts.split(END) if line for word in threes(line.lstrip(ADDRESS) + 2 * END)}
    return " ".join([*sorted(found), labels])


def threes(line: str) -> Iterable[str]:
    letters = line.translate(LETTERS)
    return (letters[n : n + 3] for n in range(len(letters) - 2))


def asked(q: str) -> str:
    """What the index is asked for a part of a text, folded already."""
    if len(q) < 3:
        return f'"{q.translate(LETTERS)}" *'
    return exactly(dict.fromkeys(threes(q)))


def exactly(wanted: Iterable[str]) -> str:
    return " ".join(f'"{word}"' for word in wanted)


# ---------- what a connection needs before it writes ----------

ERASES_AT_ONCE = sqlite3.sqlite_version_info >= (3, 42)


def prepare(connection: sqlite3.Connection) -> None:
    """Have what is taken out of the index erased at once, where this SQLite can."""
    if ERASES_AT_ONCE:
        connection.execute("INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1)")


# ---------- for the migration that fills it ----------


def register(connection: sqlite3.Connection) -> None:
    """The functions that migration 0003 speaks of, for the rows that were there before."""

    def texts_of(title: str, file: str, external_id: str | None, recipients: str) -> str:
        return texts(title, orjson.loads(file)["name"], external_id, orjson.loads(recipients))

    def labels_of(
        organisation: str, mode: str, external_id: str | None, template_id: str | None, recipients: str
    ) -> str:
        emails = [email for _, email in orjson.loads(recipients)]
        return labels(organisation, mode, external_id, template_id, emails)

    connection.create_function("search_texts", 4, texts_of, deterministic=True)
    connection.create_function("search_labels", 5, labels_of, deterministic=True)
    connection.create_function("search_words", 2, words, deterministic=True)

"""A backup that somebody forged or that was changed: refused in words, and nothing of it grows on the way."""

import io
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from zlib import crc32

import pytest

from esign.backup.archive import DamagedBackup, hold_content, stream_archive
from esign.backup.container import NewerBackup, open_archive
from esign.backup.encryption import Protection, WrongKey
from esign.backup.extract import extract_backup, extract_configuration
from esign.backup.make_backup import make_backup
from tests.backup.checks import check_later
from tests.every import EVERY
from tests.pki import NOW

ABOUT = '{"format": 1, "esign": "1.0", "made_at": "2026-01-01T00:00:00Z", "encrypted_with": "nothing"}'
MUTATED = 5_000 if EVERY else 150


def make_member(
    name: str, size: int, kind: bytes = tarfile.REGTYPE, more: Mapping[str, str] | None = None
) -> bytes:
    """Return the header of a file in a tar, with what its content would be left out."""
    member = tarfile.TarInfo(name)
    member.size, member.type, member.pax_headers = size, kind, {**(more or {})}
    return member.tobuf(tarfile.PAX_FORMAT)


def make_zip(content: bytes, method: int = zipfile.ZIP_STORED, about: str = ABOUT, again: str = "") -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        archive.writestr("about.json", about)
        archive.writestr("content.tar", content)
        if again:
            archive.writestr(again, b"x")
    return target.getvalue()


def make_long(name: str) -> bytes:
    return b"".join(stream_archive([hold_content(name, b"x")], {}, []))


FORGED = {
    "compressed": lambda: make_zip(bytes(10**7), zipfile.ZIP_DEFLATED),
    "compressed with another method": lambda: make_zip(bytes(10**7), zipfile.ZIP_LZMA),
    "a second content": lambda: make_zip(make_long("data/x"), again="content.ta_").replace(
        b"content.ta_", b"content.tar"
    ),
    "another file": lambda: make_zip(make_long("data/x"), again="readme"),
    "a hole": lambda: make_zip(
        make_member("data/x", 512, more={"GNU.sparse.major": "1", "GNU.sparse.realsize": str(2**50)})
        + bytes(512)
    ),
    "a hole of old": lambda: make_zip(make_member("data/x", 512, tarfile.GNUTYPE_SPARSE) + bytes(512)),
    "a link": lambda: make_zip(make_member("data/x", 0, tarfile.SYMTYPE)),
    "a folder": lambda: make_zip(make_member("data/x", 0, tarfile.DIRTYPE)),
    "a device": lambda: make_zip(make_member("data/x", 0, tarfile.CHRTYPE)),
    "more than there is": lambda: make_zip(make_member("data/x", 2**40) + bytes(4096)),
    "a long header": lambda: make_zip(make_member("x", 2**20, tarfile.XHDTYPE) + bytes(2**20)),
    "a long name of GNU": lambda: make_zip(make_member("x", 2**20, tarfile.GNUTYPE_LONGNAME) + bytes(2**20)),
    "a record without an end": lambda: make_zip(
        make_member("x", 11, tarfile.XHDTYPE) + b"99999 path=".ljust(512, b"\0") + make_member("data/x", 0)
    ),
    "the same file twice": lambda: make_zip(make_member("data/x", 0) * 2),
    "a file as a folder": lambda: make_zip(make_member("data/x", 0) + make_member("data/x/y", 0)),
    "a folder as a file": lambda: make_zip(make_member("data/x/y", 0) + make_member("data/x", 0)),
    "a long name": lambda: make_zip(make_long(f"data/{'x' * 300}")),
    "a long path": lambda: make_zip(make_long(f"data/{'x/' * 600}x")),
    "a name with a zero": lambda: make_zip(
        make_member("x", 17, tarfile.XHDTYPE) + b"17 path=data/a\0b\n".ljust(512, b"\0") + make_member("x", 0)
    ),
    "nothing": lambda: make_zip(b""),
    "a deep about": lambda: make_zip(b"", about="[" * 60_000),
    "an odd format": lambda: make_zip(b"", about='{"format": 1e999, "esign": "1"}'),
    "an about that is none": lambda: make_zip(b"", about="[1]"),
    "a version that paints": lambda: make_zip(b"", about='{"format": 9, "esign": "\\u001b[2J"}'),
    "a time that is none": lambda: make_zip(b"", about=ABOUT.replace("2026-01-01T", "yesterday ")),
}


@pytest.mark.parametrize("what", FORGED)
def test_what_no_backup_holds_is_refused_before_it_is_written(tmp_path: Path, what: str) -> None:
    (tmp_path / "forged").write_bytes(FORGED[what]())
    back = tmp_path / "back"
    back.mkdir()
    with (
        pytest.raises(DamagedBackup),
        (tmp_path / "forged").open("rb") as file,
        open_archive(file) as archive,
    ):
        extract_backup(archive, None, back)
    assert sum(path.stat().st_size for path in back.rglob("*") if path.is_file()) == 0


def make_small_backup(folder: Path) -> bytes:
    """Return an unencrypted backup, whose form is not protected by authentication."""
    data = folder / "source"
    data.mkdir(0o700)
    with closing(sqlite3.connect(data / "esign.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE page (content BLOB)")
    (data / "app.key").write_bytes(b"app.key")
    (data / ("long" * 40)).write_bytes(b"long")
    configuration = folder / "esign.toml"
    configuration.write_text("[server]\n")
    check = check_later(lambda copy: [])
    made = make_backup(data, configuration, folder / "small", Protection(), NOW, check, folder)
    return made.file.read_bytes()


def test_no_change_of_a_backup_leads_to_anything_but_a_refusal(tmp_path: Path) -> None:
    whole = make_small_backup(tmp_path)
    changes: list[Callable[[int], bytes]] = [
        lambda at: bytes([whole[at] ^ 1 << at % 8]),
        lambda at: b"\xff" * 8,
        lambda at: bytes(4),
        lambda at: whole[at // 2 : at // 2 + 512],
    ]
    places = [at for at in range(len(whole)) if whole[at]]  # most of a tar is padding
    passed, odd = [], []
    for number in range(MUTATED):
        drawn = crc32(str(number).encode())
        at, change = places[drawn % len(places)], changes[drawn >> 8 & 3](places[drawn % len(places)])
        file, back = tmp_path / "mutated", tmp_path / str(number)
        file.write_bytes(whole[:at] + change + whole[at + len(change) :])
        back.mkdir()
        try:
            with file.open("rb") as source, open_archive(source) as archive:
                extract_configuration(archive, None)
                extract_backup(archive, None, back)
        except (DamagedBackup, NewerBackup, WrongKey):
            continue
        except Exception as error:  # what must not happen is collected
            odd.append((number, repr(error)))
            continue
        if (back / "data/app.key").read_bytes() != b"app.key":
            passed.append(number)
    assert (odd, passed) == ([], [])

"""The ZIP is one that others read: names of any script, times of any year, nothing in it, many in it."""

import io
import zipfile
import zlib
from datetime import UTC, datetime

import pytest

from esign.core.document.zip_archive import ZipEntry, write_directory

LATE = datetime(2026, 11, 22, 17, 5, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    "names", [[], ["a.pdf"], ["Vertrag für Zoë.pdf", "契約.pdf", "عقد.pdf"], [f"{n}" for n in range(300)]]
)
def test_what_is_written_is_read(names: list[str]) -> None:
    written, entries = b"", []
    for n, name in enumerate(names):
        content = name.encode() * n
        entries.append(ZipEntry(name, LATE, len(content), zlib.crc32(content), len(written)))
        written += entries[-1].head() + content
    with zipfile.ZipFile(io.BytesIO(written + write_directory(entries, len(written)))) as archive:
        assert archive.testzip() is None and archive.namelist() == names
        for n, one in enumerate(archive.infolist()):
            assert archive.read(one) == one.filename.encode() * n
            assert one.date_time == (2026, 11, 22, 17, 5, 30) and one.external_attr >> 16 == 0o100644


def test_a_time_before_there_were_archives_is_their_first() -> None:
    entry = ZipEntry("a", datetime(1970, 1, 1, tzinfo=UTC), 0, 0, 0)
    with zipfile.ZipFile(io.BytesIO(entry.head() + write_directory([entry], len(entry.head())))) as archive:
        assert archive.infolist()[0].date_time == (1980, 1, 1, 0, 0, 0)

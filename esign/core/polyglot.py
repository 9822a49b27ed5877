"""Tells whether a file is a PDF and nothing else.

A polyglot is a file that other programs read as another format: a web page or a program before `%PDF-`, a ZIP
archive behind the end or inside. PDF readers skip what they do not know (ISO 32000-1, implementation note 13:
the header may stand within the first 1,024 bytes), so such a file looks harmless and would be served as a
signed document.
"""

import struct

HEADER, END = b"%PDF-", b"%%EOF"
BLANK = b"\x00\t\n\x0c\r "
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# APPNOTE 6.3.10, 4.3.16: the record that every reader of ZIP looks for, behind it a comment of up to 65,535 bytes.
ZIP_END, ZIP_ENTRY = b"PK\x05\x06", b"PK\x01\x02"
ZIP_TAIL = 22 + 65_535


def is_pure(content: bytes) -> bool:
    """Return whether only white space stands before and behind the PDF, and no ZIP archive ends in it."""
    start = content[:1024].find(HEADER)
    end = content.rfind(
        END, max(0, len(content) - len(END) - ZIP_TAIL)
    )  # with more behind it, it is not pure
    if start < 0 or end < 0:
        return False
    before = content[:start].removeprefix(BYTE_ORDER_MARK)
    behind = content[end + len(END) : end + len(END) + ZIP_TAIL]
    if before.strip(BLANK) or behind.strip(BLANK) or len(content) > end + len(END) + ZIP_TAIL:
        return False
    return not has_zip(content)


def has_zip(content: bytes) -> bool:
    """Return whether a ZIP reader would find an archive with entries, or an empty archive at the very end."""
    tail = content[-ZIP_TAIL:]
    base, at = len(content) - len(tail), len(tail)
    while (at := tail.rfind(ZIP_END, 0, at)) >= 0:
        record = tail[at : at + 22]
        if len(record) == 22:
            size, _, comment = struct.unpack("<IIH", record[12:])
            directory = base + at - size
            if (
                content[directory : directory + 4] == ZIP_ENTRY
                if directory >= 0 and size
                else (at + 22 + comment == len(tail))
            ):
                return True
    return False

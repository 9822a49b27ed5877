"""Find the audit head in the bytes of a sealed file, without a PDF library and without judging its seal.

`audit_head` wrote it as a plain text of the last revision but those of proof. It says which entry of which trail the
file belongs to; whether the file is as it was sealed is known from the hash that it is stored under.
"""

import re

KEY = b"/EsignAudit"
# pyHanko writes the underscore as its octal code (ISO 32000-2 7.3.4.2).
HEAD = re.compile(KEY + rb"\s*\(doc(?:_|\\137)([0-9a-z]{1,60}) ([1-9][0-9]{0,8}) ([0-9a-f]{64})\)")


def find_printed_head(content: bytes) -> tuple[str, int, str] | None:
    """Return the document, the number and the hash of the entry that a sealed file names, or None."""
    place = content.rfind(KEY)
    found = HEAD.match(content, place) if place >= 0 else None
    return (f"doc_{found[1].decode()}", int(found[2]), found[3].decode()) if found else None

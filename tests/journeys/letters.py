"""What is read in a mail."""

import re
from email.header import decode_header, make_header
from email.message import EmailMessage

LINK = re.compile(r"https?://\S+/s/[\w-]{43}")


def part(message: EmailMessage, kind: str) -> str:
    """The text of `plain` or `html`."""
    body = message.get_body((kind,))
    assert body is not None
    return str(body.get_content())


def link_in(message: EmailMessage) -> str | None:
    """The signing link of a letter, if it holds one."""
    found = LINK.search(part(message, "plain"))
    return found[0] if found else None


def header(octets: bytes, name: str) -> str:
    """A header as it was sent, unfolded."""
    head = re.sub("\r\n(?=[ \t])", "", octets.partition(b"\r\n\r\n")[0].decode())
    [found] = re.findall(f"^{name}: (.*)\r?$", head, re.MULTILINE)
    return str(found)


def shown_name(octets: bytes) -> str:
    """The name in `To`, by the rules of RFC 2047 (the email package puts blanks between encoded words)."""
    shown = header(octets, "To").rpartition(" <")[0]
    if shown.startswith('"'):
        return re.sub(r"\\(.)", r"\1", shown[1:-1])
    return str(make_header(decode_header(shown)))

"""The texts by which programs that add proof to a file identify themselves: producer names and PDF extensions.

Readers show any other text there as a property of the document, so it does not count as proof.
"""

import re

# pyHanko appends its name to that of the program that made the file.
PRODUCER = re.compile(r"pyHanko [0-9]{1,3}(?:\.[0-9]{1,4}){1,3}(?:[-.+]?(?:a|b|rc|dev|post)[0-9]{0,3})?")

# The names of fields: a word for what they are and a number (PDFBox, EU DSS, iText), or an identifier (pyHanko); or one
# word of the user's. Any other text would be shown by readers that list fields.
FIELD_NAME = re.compile(
    r"(?:Sig|Signature|(?:Doc|Document|Archive)?[Tt]ime-?[Ss]tamp|DTS)[-_ ]?"
    r"(?:[0-9]{0,4}|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12})"
    r"|[A-Z][a-z]{1,15}"
)

# Extensions that declare document time stamps and a DSS: ESIC of ETSI (pyHanko), ADBE (PDFBox, EU DSS), each with its
# levels, all for PDF 1.7.
EXTENSIONS = {b"ESIC": {1, 2, 5}, b"ADBE": {5, 8}}

# The appearance of an invisible field: nothing, or the comment by which Adobe and others say so. Another comment
# would be a text of its own.
BLANK_LOOK = re.compile(rb"\s{0,9}(?:% DSBlank\s{0,9})?")


def is_producer_change(before: str, now: str) -> bool:
    """Return whether the producer is the same, or that of a writer of proof, or the same with such a name appended."""
    if now == before or PRODUCER.fullmatch(now):
        return True
    return now.startswith(before) and PRODUCER.fullmatch(now[len(before) :].removeprefix("; ")) is not None

"""What programs that add proof to a file say of themselves in it: their name as producer, and extensions of PDF.

Any other text there is shown by readers as a property of the document, and is no proof.
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

# By which writers declare document time stamps and stores: ESIC of ETSI (pyHanko), ADBE (PDFBox, EU DSS), each with its
# levels, all for PDF 1.7.
EXTENSIONS = {b"ESIC": {1, 2, 5}, b"ADBE": {5, 8}}

# What an invisible field has as its look: nothing, or the comment by which Adobe and others say so. Another comment
# would be a text of its own.
BLANK_LOOK = re.compile(rb"\s{0,9}(?:% DSBlank\s{0,9})?")


def is_producer_change(before: str, now: str) -> bool:
    """Return whether the producer is the same, that of a writer of proof, or the same with that one behind it."""
    if now == before or PRODUCER.fullmatch(now):
        return True
    return now.startswith(before) and PRODUCER.fullmatch(now[len(before) :].removeprefix("; ")) is not None

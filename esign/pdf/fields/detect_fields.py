"""Find what a file asks to be filled in: the fields of its form, and marks such as `{{signature:1}}` in its text.

The form is read from the upload, because the normalised file has drawn it into its pages. Marks are read from
the normalised file, whose pages are those that recipients see.
"""

from itertools import islice

import pikepdf
import pypdfium2

from esign.core.errors import Problem
from esign.pdf.fields import form_fields, text_marks
from esign.pdf.inspection import Blank, Blanks, Unused
from esign.pdf.intake.inspect import opened

MOST = 500  # of each, as many as a document may have fields

Found = list[Blank | Unused]


def find(upload: bytes, prepared: bytes) -> Blanks:
    """Return all places that ask for a field, in the order of the pages; none if the file cannot be read."""
    found = sorted((*of_form(upload), *of_text(prepared)), key=lambda one: one.page)
    return Blanks(
        tuple(one for one in found if isinstance(one, Blank))[:MOST],
        tuple(one for one in found if isinstance(one, Unused))[:MOST],
    )


def of_form(upload: bytes) -> Found:
    try:
        pdf, _ = opened(upload)
        return list(islice(form_fields.fields(pdf), 2 * MOST))
    except (pikepdf.PikepdfError, Problem):
        return []


def of_text(prepared: bytes) -> Found:
    document = pypdfium2.PdfDocument(prepared)
    try:
        return [one for index in range(len(document)) for one in text_marks.read(document[index], index + 1)]
    except pypdfium2.PdfiumError:
        return []
    finally:
        document.close()

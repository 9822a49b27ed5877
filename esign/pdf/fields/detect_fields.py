"""Find what a file asks to be filled in: the fields of its form, and marks such as `{{signature:1}}` in its text.

The form is read from the upload, because the normalised file has drawn it into its pages. Marks are read from
the normalised file, whose pages are those that recipients see.
"""

from itertools import islice

import pikepdf
import pypdfium2

from esign.core.errors import Problem
from esign.pdf.fields import form_fields, text_marks
from esign.pdf.inspection import DetectedField, DetectedFields, UnusableField
from esign.pdf.intake.inspect import open_upload

MOST = 500  # of each, as many as a document may have fields

Found = list[DetectedField | UnusableField]


def find_fields(upload: bytes, prepared: bytes) -> DetectedFields:
    """Return all places that ask for a field, in the order of the pages; none if the file cannot be read."""
    found = sorted((*find_form_fields(upload), *find_text_marks(prepared)), key=lambda one: one.page)
    return DetectedFields(
        tuple(one for one in found if isinstance(one, DetectedField))[:MOST],
        tuple(one for one in found if isinstance(one, UnusableField))[:MOST],
    )


def find_form_fields(upload: bytes) -> Found:
    try:
        pdf, _ = open_upload(upload)
        return list(islice(form_fields.read_form(pdf), 2 * MOST))
    except (pikepdf.PikepdfError, Problem):
        return []


def find_text_marks(prepared: bytes) -> Found:
    document = pypdfium2.PdfDocument(prepared)
    try:
        return [
            one for index in range(len(document)) for one in text_marks.read_marks(document[index], index + 1)
        ]
    except pypdfium2.PdfiumError:
        return []
    finally:
        document.close()

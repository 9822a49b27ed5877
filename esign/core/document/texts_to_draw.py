"""Lists every text of a document that will be drawn, with the member of the request that it came from."""

from collections.abc import Iterator

from esign.core.document.document import Document, Field, Ink


def list_texts(document: Document) -> Iterator[tuple[str, str]]:
    """Yield (JSON Pointer, text) for each text on the certificate page or in a field."""
    if document.created_by.name:
        yield "", document.created_by.name
    yield "/title", document.title
    yield "/fileName", document.file.name
    for n, recipient in enumerate(document.recipients):
        yield f"/recipients/{n}/name", recipient.name
        yield f"/recipients/{n}/email", recipient.email
        for m, field in enumerate(recipient.fields):
            for text in list_field_texts(field):
                yield f"/recipients/{n}/fields/{m}", text


def list_field_texts(field: Field) -> Iterator[str]:
    """Yield the texts that one field may print, as far as they are known; a choice may print any option."""
    yield from list_value_texts(field)
    yield from field.options.get("options", ())


def list_value_texts(field: Field) -> Iterator[str]:
    """Yield the text that was filled in, or typed as a signature."""
    if isinstance(field.value, str):
        yield field.value
    if isinstance(field.value, Ink) and field.value.text:
        yield field.value.text

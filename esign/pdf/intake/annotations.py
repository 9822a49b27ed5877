"""Draw form fields and annotations into their pages, so that nothing can change them afterwards."""

from contextlib import suppress

from pikepdf import (
    AcroFormField,
    Annotation,
    Array,
    Dictionary,
    Name,
    Object,
    Page,
    Pdf,
    PikepdfError,
    Stream,
)

from esign.pdf.intake import active_content
from esign.pdf.page import content
from esign.pdf.page import page_properties as pages

MEDIA = frozenset({"/RichMedia", "/Screen", "/Movie", "/Sound", "/3D"})
UNSEEN = frozenset({"/Popup", "/TrapNet", "/PrinterMark"})

# Annotation flags: invisible, hidden, no view.
HIDDEN = 1 << 1 | 1 << 5

# Form field flag of text fields.
PASSWORD = 1 << 13

DRAWN = frozenset({"form fields", "annotations"})


def flatten_annotations(pdf: Pdf) -> set[str]:
    """Draw the visible form fields and annotations, drop the rest and keep links. Return the words of `REMOVALS`.

    The form is empty afterwards.
    """
    removed: set[str] = set()
    form = pdf.Root.get("/AcroForm")
    annotated = [page for page in pdf.pages if "/Annots" in page.obj]
    if annotated:
        _draw_values(pdf)
    for page in annotated:
        _flatten_page(pdf, page, form.get("/DR") if isinstance(form, Dictionary) else None)
    for page in annotated:
        removed |= _keep_links(page)
    if isinstance(form, Dictionary) and "/XFA" in form:
        removed.add("XFA form")
    return removed


def _flatten_page(pdf: Pdf, page: Page, lent: object) -> None:
    looks = [
        (a, look) for a in _list_annotations(page) if _find_word(a) in DRAWN and (look := _find_appearance(a))
    ]
    if not looks:
        return
    content.enclose_content(pdf, page)
    forms, rotation = pages.give_own_resources(page).XObject, pages.read_visible_area(page).turns * 90
    drawing = b""
    for annotation, look in looks:
        _lend_resources(look, lent)
        name = Name(pages.place_form(forms, look).decode())
        drawing += Annotation(annotation).get_page_content_for_appearance(name, rotation, 0, 0) + b"\n"
    content.append_content(pdf, page, drawing)


def _keep_links(page: Page) -> set[str]:
    """Drop all annotations except links, and return the words of `REMOVALS`.

    A dropped annotation is emptied, so that what still refers to it, such as the structure tree, finds nothing.
    """
    links = [a for a in _list_annotations(page) if a.get("/Subtype") == Name.Link]
    others = [a for a in _list_annotations(page) if a.get("/Subtype") != Name.Link]
    removed = {word for word in map(_find_word, others) if word}
    for annotation in others:
        for key in list(annotation.keys()):
            del annotation[key]
    for link in links:
        if "/AP" in link:
            # Drawn over everything else on the page, it could cover what is stamped later.
            del link.AP
    page.obj.Annots = Array(links)
    return removed


def _list_annotations(page: Page) -> list[Object]:
    found = page.obj.get("/Annots")
    return [a for a in found if isinstance(a, Dictionary)] if isinstance(found, Array) else []


def _find_word(annotation: Object) -> str | None:
    kind = active_content.read_name(annotation.get("/Subtype"))
    if kind in MEDIA:
        return "multimedia"
    if kind == "/FileAttachment":
        return "attachments"
    if kind in UNSEEN:
        return None
    return "form fields" if kind == "/Widget" else "annotations"


def _find_appearance(annotation: Object) -> Object | None:
    """Return the form XObject that a reader shows for the annotation, or None if it is hidden or has none."""
    flags = annotation.get("/F", 0)
    if isinstance(flags, int) and flags & HIDDEN:
        return None
    look = Annotation(annotation).get_appearance_stream(Name.N)
    if not isinstance(look, Stream):
        return None
    look.Type, look.Subtype = Name.XObject, Name.Form
    if "/OC" in annotation:
        look.OC = annotation.OC
    return look


def _lend_resources(look: Object, lent: object) -> None:
    """Add the form's resources to an appearance, which may use fonts that only the form names."""
    if not isinstance(lent, Dictionary):
        return
    found = look.get("/Resources")
    own = found.copy() if isinstance(found, Dictionary) else Dictionary()
    for kind in list(lent.keys()):
        given, have = lent[kind], own[kind] if kind in own else Dictionary()
        if isinstance(given, Dictionary) and isinstance(have, Dictionary):
            both = given.copy()
            for key in list(have.keys()):
                both[key] = have[key]
            own[kind] = both
    look.Resources = own


def _draw_values(pdf: Pdf) -> None:
    """Generate the appearance of fields that have none, and of all fields if the file asks its readers to do so."""
    form = pdf.acroform
    anew = form.needs_appearances
    for page in pdf.pages:
        for widget in form.get_widget_annotations_for_page(page):
            field = form.get_field_for_annotation(widget)
            missing = not isinstance(widget.get_appearance_stream(Name.N), Stream)
            if (missing or anew) and (field.is_text or field.is_choice) and _can_be_drawn(field):
                with suppress(PikepdfError, ValueError):
                    field.generate_appearance(widget)


def _can_be_drawn(field: AcroFormField) -> bool:
    """Return whether qpdf can draw the value.

    It has only cp1252; with other letters the author's appearance is better.
    """
    value = field.value_as_string
    return (
        bool(value)
        and not field.flags & PASSWORD
        and value.encode("cp1252", "replace").decode("cp1252") == value
    )

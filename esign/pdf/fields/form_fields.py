"""Read the form of a PDF as fields that recipients can fill in (ISO 32000-2, 12.7)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from pikepdf import Array, Dictionary, Name, Object, Page, Pdf, Stream, String

from esign.pdf.inspection import DetectedField, UnusableField
from esign.pdf.intake.active_content import read_name as name_of
from esign.pdf.intake.annotations import HIDDEN
from esign.pdf.page import geometry
from esign.pdf.page.page_properties import DEEPEST, find_inherited, read_visible_area

FAR = 1e6  # points
SCRIPT = (
    4_096  # bytes of a packed script: a number format is one call, and a larger stream may unfold to any size
)
MOST_OPTIONS = 200
SMALLEST = 0.2  # percent of a side; a smaller box is no place to write

READ_ONLY, REQUIRED = 1 << 0, 1 << 1
MULTILINE, PASSWORD, FILE = 1 << 12, 1 << 13, 1 << 20
RADIO, PUSH = 1 << 15, 1 << 16
SEVERAL = 1 << 21

KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
SIZE = re.compile(rb"([0-9.]+)\s+Tf")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
ALIGN = {1: "center", 2: "right"}
EMPTY = ("", "/Off")
LINES = ("text", "number", "date")


NAMELESS_FIELD, NAMELESS_DROPDOWN = "A field without a name", "A dropdown"


def read_form(pdf: Pdf) -> Iterator[DetectedField | UnusableField]:
    """Yield the fields of the form page by page, in the order of the file. A key that repeats is dropped."""
    taken: set[str] = set()
    for number, page in enumerate(pdf.pages, 1):
        seen = read_visible_area(page)
        for widget in list_widgets(page):
            found = read_field(widget, number, seen)
            if isinstance(found, DetectedField) and found.key is not None:
                if found.key in taken:
                    found = replace(found, key=None)  # keys are unique
                else:
                    taken.add(found.key or "")
            if found is not None:
                yield found


def list_widgets(page: Page) -> list[Object]:
    found = page.obj.get("/Annots")
    if not isinstance(found, Array):
        return []
    return [a for a in found if isinstance(a, Dictionary) and a.get("/Subtype") == Name.Widget]


def read_field(
    widget: Object, number: int, seen: geometry.VisibleArea
) -> DetectedField | UnusableField | None:
    """Return one widget as a field, or None if it is nothing to fill in, such as a button that runs a script."""
    kind, flags = name_of(find_inherited(widget, "/FT")), read_whole_number(find_inherited(widget, "/Ff"))
    if (kind == "/Btn" and flags & PUSH) or kind not in READERS:
        return None
    name = read_full_name(widget)
    label = read_text(find_inherited(widget, "/TU")) or name.rpartition(".")[2]
    place = read_box(widget, seen)
    if reason := explain_unusable(widget, kind, flags, place):
        return UnusableField(number, label or NAMELESS_FIELD, reason)
    assert place is not None
    type_, options = READERS[kind](widget, flags, name)
    if type_ == "dropdown" and not options["options"]:
        return UnusableField(number, label or NAMELESS_DROPDOWN, "It has no options.")
    grouped = "group" in options
    return DetectedField(
        type_,
        number,
        *place,
        marked=False,
        label=label[:100] or None,
        key=name if KEY.fullmatch(name) and not grouped else None,
        required=None if type_ == "signature" or grouped else bool(flags & REQUIRED),
        font_size=read_font_size(widget) if type_ in LINES else None,
        align=ALIGN.get(read_whole_number(find_inherited(widget, "/Q"))) if type_ in LINES else None,
        options=options,
    )


def explain_unusable(widget: Object, kind: str, flags: int, place: tuple[float, ...] | None) -> str | None:
    """Return why a recipient could not fill in this widget here, or None if they can."""
    if read_whole_number(widget.get("/F")) & HIDDEN:
        return "It is hidden in the PDF."
    if place is None:
        return "It is outside the visible page."
    if flags & READ_ONLY:
        return "The PDF makes it read-only."
    if kind != "/Ch" and read_value(widget, kind) not in EMPTY:
        return "It already has a value, which is now part of the page."
    if kind == "/Tx" and flags & (PASSWORD | FILE):
        return "It asks for a password or a file."
    if kind == "/Ch" and flags & SEVERAL:
        return "Several options could be chosen at once; a dropdown takes one."
    if kind == "/Ch" and read_value(widget, kind) and read_choice_value(widget) is None:
        return "It already has a value, which is now part of the page."
    return None


# ---------- one reader for each type of form field ----------


def read_text_field(widget: Object, flags: int, _: str) -> tuple[str, dict[str, Any]]:
    """Return the type and options of a text field; it becomes a number or a date if the form formats it as one."""
    script = read_scripts(widget)
    if b"AFNumber" in script:
        return "number", {}
    if b"AFDate" in script:
        return "date", {"autofill": False}  # a day that the recipient chooses, not the day of signing
    options: dict[str, Any] = {"multiline": True} if flags & MULTILINE else {}
    longest = read_whole_number(find_inherited(widget, "/MaxLen"))
    return "text", options | ({"maxLength": longest} if 1 <= longest <= 2_000 else {})


def read_button(_: Object, flags: int, name: str) -> tuple[str, dict[str, Any]]:
    """Return a checkbox. Radio buttons become checkboxes of one group of which at most one can be checked."""
    if not flags & RADIO:
        return "checkbox", {}
    forced = {"minChecked": 1} if flags & REQUIRED else {}
    return "checkbox", {"group": (name or "choice")[-40:], "maxChecked": 1, **forced}


def read_choice(widget: Object, _: int, __: str) -> tuple[str, dict[str, Any]]:
    """Return a dropdown, with the option that the form has chosen as its default value."""
    shown = [name for _, name in list_options(widget)]
    options: dict[str, Any] = {"options": list(dict.fromkeys(one for one in shown if one))[:MOST_OPTIONS]}
    chosen = read_choice_value(widget)
    return "dropdown", options | ({"value": chosen} if chosen in options["options"] else {})


def read_choice_value(widget: Object) -> str | None:
    """Return the option that a dropdown shows, or None if there is none or its value is not among the options."""
    value = read_value(widget, "/Ch")
    return next((name for stored, name in list_options(widget) if value and value in (stored, name)), None)


def list_options(widget: Object) -> list[tuple[str, str]]:
    """Return the options of a choice: the value that the form stores, and the name that people read."""
    pairs = [
        one if isinstance(one, Array) and len(one) else [one]
        for one in read_list(find_inherited(widget, "/Opt"))
    ]
    return [(read_text(pair[0]), read_text(pair[-1])[:200]) for pair in pairs]


def read_signature_field(_: Object, __: int, ___: str) -> tuple[str, dict[str, Any]]:
    return "signature", {}


READERS = {"/Tx": read_text_field, "/Btn": read_button, "/Ch": read_choice, "/Sig": read_signature_field}


# ---------- reading values whose type the file may get wrong ----------


def read_full_name(widget: object) -> str:
    """Return the qualified name of a form field: the partial names of its ancestors, joined by dots."""
    names: list[str] = []
    node = widget
    for _ in range(DEEPEST):
        if not isinstance(node, Dictionary):
            break
        if part := read_text(node.get("/T")):
            names.append(part)
        node = node.get("/Parent")
    return ".".join(reversed(names))


def read_text(found: object) -> str:
    """Return a string of the file in one line, without control characters; empty for anything else."""
    return " ".join(CONTROL.sub(" ", str(found)).split()) if isinstance(found, String) else ""


def read_whole_number(found: object) -> int:
    return found if isinstance(found, int) and not isinstance(found, bool) else 0


def read_list(found: object) -> list[object]:
    return list(found) if isinstance(found, Array) else []


def read_value(widget: Object, kind: str) -> str:
    """Return the present value of the widget as text; empty if there is none."""
    found = widget.get("/AS") if kind == "/Btn" else find_inherited(widget, "/V")
    if isinstance(found, Dictionary):
        return "signed"
    return name_of(found) or read_text(found)


def read_scripts(widget: Object) -> bytes:
    """Return the text of the scripts that format or check what is typed."""
    actions = find_inherited(widget, "/AA")
    said = b""
    for key in ("/K", "/F"):
        action = actions.get(key) if isinstance(actions, Dictionary) else None
        script = action.get("/JS") if isinstance(action, Dictionary) else None
        if isinstance(script, String):
            said += bytes(script)
        elif isinstance(script, Stream) and len(script.read_raw_bytes()) <= SCRIPT:
            said += script.read_bytes()
    return said


def read_font_size(widget: Object) -> float | None:
    """Return the font size in points, or None if the form leaves it open or sets one that no field may have."""
    found = find_inherited(widget, "/DA")
    sizes = SIZE.findall(bytes(found)) if isinstance(found, String) else []
    try:
        size = float(sizes[-1]) if sizes else 0.0
    except ValueError:
        return None
    return round(size, 1) if 6 <= size <= 72 else None


def read_box(widget: Object, seen: geometry.VisibleArea) -> tuple[float, float, float, float] | None:
    """Return left, top, width and height in percent of the page as displayed, cut to the page.

    Return None if the widget has no proper rectangle or is too small on the page to write in.
    """
    sides = [float(c) for c in read_list(widget.get("/Rect")) if isinstance(c, int | float | Decimal)]
    if len(sides) != 4 or not all(abs(side) < FAR for side in sides):
        return None
    points = [seen.seen(sides[0], sides[1]), seen.seen(sides[2], sides[3])]
    across = sorted(min(max(x / seen.width * 100, 0), 100) for x, _ in points)
    down = sorted(min(max(y / seen.height * 100, 0), 100) for _, y in points)
    left, top, width, height = across[0], down[0], across[1] - across[0], down[1] - down[0]
    if width < SMALLEST or height < SMALLEST:
        return None
    return round(left, 2), round(top, 2), round(width, 2), round(height, 2)

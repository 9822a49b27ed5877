"""Pages as a browser shows them before finishing, and as they were sealed."""

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pikepdf
import pypdfium2
from PIL import Image
from playwright.sync_api import Locator, Page

from tests.browser import alike

# The page alone, without what floats above it; and without the fields, to see what they add.
ALONE = ".bar, .dock, .toast { visibility: hidden !important; }"
BARE = ".page .field { visibility: hidden !important; }"


@dataclass(frozen=True)
class Sheet:
    """One page in two pictures, without and with what was filled in."""

    bare: Image.Image
    written: Image.Image

    def ink(self) -> alike.Ink:
        return alike.ink(self.bare, self.written)


# Pages look for a sharper picture 80 ms after something moved, and put it in once it has come.
RESTED = """async (number) => {
  const pictures = () => [...document.querySelectorAll(`#page-${number} > img`)], before = pictures();
  await new Promise((then) => setTimeout(then, 300));
  const there = (img) => img.complete && !img.src.startsWith("data:") && !("wanted" in img.dataset);
  if (!pictures().every((img, at) => img === before[at] && there(img))) return false;
  await Promise.all(before.map((img) => img.decode())); // else it may be painted later than what lies above it
  for (const frame of "12") await new Promise(requestAnimationFrame);
  return true;
}"""


def picture_page(page: Page, number: int, scale: int) -> Sheet:
    """As the browser shows it, with so many dots to its pixel."""
    sheet = page.locator(f"#page-{number}")
    sheet.scroll_into_view_if_needed()
    page.wait_for_function(RESTED, arg=number)
    for _ in range(5):  # taking a picture can let go of the page's own for a moment
        before, written, after = (
            picture(page, sheet, style, scale) for style in (ALONE + BARE, ALONE, ALONE + BARE)
        )
        if before.tobytes() == after.tobytes():
            return Sheet(after, written)
    raise AssertionError(f"Page {number} does not come to rest.")


def picture(page: Page, sheet: Locator, style: str, scale: int) -> Image.Image:
    """A picture begins at a whole pixel of the browser, which may lie before the sheet."""
    page.evaluate(
        f"document.adoptedStyleSheets = [new CSSStyleSheet()]; document.adoptedStyleSheets[0].replaceSync('{style}')"
    )
    shot = Image.open(io.BytesIO(sheet.screenshot(animations="disabled"))).convert("RGB")
    page.evaluate("document.adoptedStyleSheets = []")
    box = sheet.evaluate("(one) => one.getBoundingClientRect().toJSON()")
    left, top = ((box["x"] % 1) * scale, ((box["y"] + page.evaluate("scrollY")) % 1) * scale)
    return shot.crop(
        (round(left), round(top), round(left + box["width"] * scale), round(top + box["height"] * scale))
    )


def draw_sealed_page(file: bytes, number: int, size: tuple[int, int]) -> Sheet:
    """As pdfium draws it; bare once the values were taken away."""
    bare = io.BytesIO()
    with pikepdf.open(io.BytesIO(file)) as pdf:
        forms = pdf.pages[number - 1].obj["/Resources"]["/XObject"]
        values = max((key for key in forms.keys() if key.startswith("/Esign")), key=lambda key: int(key[6:]))  # noqa: SIM118
        forms[values].write(b"")
        pdf.save(bare)
    return Sheet(*(draw_page(each, number, size) for each in (bare.getvalue(), file)))


def draw_page(file: bytes, number: int, size: tuple[int, int]) -> Image.Image:
    document = pypdfium2.PdfDocument(file)
    page = document[number - 1]
    picture: Image.Image = (
        page.render(scale=size[0] / page.get_width(), may_draw_forms=False).to_pil().convert("RGB")
    )
    document.close()
    return picture.resize(size) if abs(picture.height - size[1]) <= 2 else picture


def around(field: Mapping[str, Any], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """The field with the white around it, in dots."""
    left, top = field["x"] - 1.2, field["y"] - 1.2
    right, bottom = field["x"] + field["width"] + 1.2, field["y"] + field["height"] + 1.2
    return (
        max(0, int(left * size[0] / 100)),
        max(0, int(top * size[1] / 100)),
        min(size[0], int(right * size[0] / 100)),
        min(size[1], int(bottom * size[1] / 100)),
    )


def faults(seen: alike.Ink, sealed: alike.Ink, fields: Iterable[Mapping[str, Any]]) -> list[str]:
    """The fields that were sealed otherwise than they were seen."""
    size = seen.clear.size
    found = [
        (field["label"], alike.likeness(seen.part(box), sealed.part(box), size))
        for field in fields
        for box in [around(field, size)]
    ]
    return [f"{label}: {likeness}" for label, likeness in found if not likeness.holds]

"""Renews the pictures of the README from today's pages: python -m tests.images [NAME ...]

Each is a stop of a walk of tests/browser/walks.py or tests/browser/office_walks.py, as `IMAGES` says; `certificate` is
that of a demonstration. Without a name all of them are made, and written to docs/images. The letters are those of the
browser's system; look at what was made.
"""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pypdfium2
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.conftest import ARGS, CHROMIUM, Visits
from tests.browser.office_walks import OFFICE, an_office_of
from tests.browser.screens import SETTLED
from tests.browser.stage import a_stage
from tests.browser.walks import WALKS, Stops
from tests.screenshots import SIZES

FOLDER = Path(__file__).parents[1] / "docs" / "images"
QUALITY = 82
CERTIFICATE, WIDTH = "certificate", 662


@dataclass(frozen=True)
class PageImage:
    """The stop of a walk, on a phone or at a desk."""

    walk: str
    stop: str
    width: int = 360
    language: str = "en"
    scheme: str = "light"


IMAGES: Mapping[str, PageImage] = {
    "phone-arrival": PageImage("look", "arrival"),
    "phone-field": PageImage("sign", "field-radio"),
    "phone-signature": PageImage("sign", "signature-typed"),
    "phone-finish": PageImage("sign", "finish"),
    "phone-arabic-dark": PageImage("look", "arrival", language="ar", scheme="dark"),
    "desk": PageImage("sign", "signature-placed", 1280),
    "list": PageImage("office-documents", "list", 1280),
    "editor": PageImage("office-editor", "one", 1280),
    "document": PageImage("office-document-sent", "page", 1280),
    "tokens": PageImage("office-tokens", "page", 1280),
}


def keep(page: Page, name: str) -> None:
    """Write what can be seen as docs/images/NAME.webp."""
    page.evaluate(SETTLED)
    expect(page.locator(".where.moving")).to_have_count(0)  # it shows itself while one scrolls
    picture = Image.open(BytesIO(page.screenshot(animations="disabled")))
    picture.convert("RGB").save(FOLDER / f"{name}.webp", quality=QUALITY, method=6)
    print(f"{name}.webp {picture.width} × {picture.height}", flush=True)


def keep_at_stop(page: Page, stops: Stops, name: str) -> None:
    """Walk until the stop of that image, and keep it."""
    wanted = IMAGES[name].stop
    assert wanted in stops, (
        f"the walk of {name} has no stop {wanted}"
    )  # the walk goes on to it, and rests there
    keep(page, name)


def picture_signing(browser: Browser, name: str) -> None:
    image = IMAGES[name]
    visit, walk = Visits(browser), WALKS[image.walk]
    size = {"width": image.width, "height": SIZES[image.width]}
    with visit.open:
        page = visit(
            walk.start(image.language), **size, dark=image.scheme == "dark", locale=image.language, **walk.how
        )
        keep_at_stop(page, walk.stops(page), name)


def picture_office(browser: Browser, names: list[str]) -> None:
    with TemporaryDirectory() as data, a_stage(Path(data), {"name": "Alder & Finch"}) as stage:
        place = an_office_of(stage)
        for name in names:
            visit, width = Visits(browser), IMAGES[name].width
            with visit.open:
                page = visit.at(
                    f"{stage.site.base}/account", width=width, height=SIZES[width], storage_state=place.state
                )
                keep_at_stop(page, OFFICE[IMAGES[name].walk](page, place), name)


def picture_certificate() -> None:
    """Seal the sample contract in a demonstration, and keep the first page of its certificate."""
    with TemporaryDirectory() as data:
        subprocess.run(
            [sys.executable, "-m", "esign", "demo", "--exit", "--into", f"{data}/demo"], check=True
        )
        (sealed,) = Path(data).rglob("sealed.pdf")
        document = pypdfium2.PdfDocument(sealed)
        page = next(
            one for one in document if "Certificate of completion" in one.get_textpage().get_text_bounded()
        )
        picture = page.render(scale=WIDTH / page.get_width()).to_pil().convert("RGB")
        picture.quantize(64).save(FOLDER / f"{CERTIFICATE}.png", optimize=True)
        document.close()
        print(f"{CERTIFICATE}.png {picture.width} × {picture.height}")


def main(*wanted: str) -> None:
    names = list(wanted or (*IMAGES, CERTIFICATE))
    if CERTIFICATE in names:
        names.remove(CERTIFICATE)
        picture_certificate()
    if not names:
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        for name in (one for one in names if IMAGES[one].walk in WALKS):
            picture_signing(browser, name)
        if office := [one for one in names if IMAGES[one].walk in OFFICE]:
            picture_office(browser, office)
        browser.close()


if __name__ == "__main__":
    if unknown := sorted(set(sys.argv[1:]) - {*IMAGES, CERTIFICATE}):
        sys.exit(f"no image is called {', '.join(unknown)}\n\n{__doc__}")
    main(*sys.argv[1:])

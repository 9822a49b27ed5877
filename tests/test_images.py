"""The pictures of pages in docs/images are those that `python -m tests.images` makes."""

from tests.browser.office_walks import OFFICE
from tests.browser.walks import WALKS
from tests.images import FOLDER, IMAGES


def test_every_picture_of_a_page_can_be_renewed() -> None:
    assert {path.stem for path in FOLDER.glob("*.webp")} == IMAGES.keys()
    assert {image.walk for image in IMAGES.values()} <= WALKS.keys() | OFFICE.keys()

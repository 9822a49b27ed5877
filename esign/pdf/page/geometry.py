"""Convert between points of a page as displayed and its own coordinates. Pure arithmetic, in points throughout."""

from collections.abc import Sequence
from dataclasses import dataclass

Matrix = tuple[float, float, float, float, float, float]

LETTER = (0.0, 0.0, 612.0, 792.0)


@dataclass(frozen=True, slots=True)
class VisibleArea:
    """The visible part of a page in the page's own coordinates, and its quarter turns clockwise (0 to 3)."""

    x0: float
    y0: float
    x1: float
    y1: float
    turns: int

    @property
    def width(self) -> float:
        """Return the width as displayed, in points."""
        return self.y1 - self.y0 if self.turns % 2 else self.x1 - self.x0

    @property
    def height(self) -> float:
        """Return the height as displayed, in points."""
        return self.x1 - self.x0 if self.turns % 2 else self.y1 - self.y0

    def at(self, right: float, down: float) -> tuple[float, float]:
        """Return the page's own coordinates of a point, given its distance from the top left corner as displayed."""
        match self.turns:
            case 0:
                return self.x0 + right, self.y1 - down
            case 1:
                return self.x0 + down, self.y0 + right
            case 2:
                return self.x1 - right, self.y0 + down
            case _:
                return self.x1 - down, self.y1 - right

    def seen(self, x: float, y: float) -> tuple[float, float]:
        """Return how far right and down from the top left corner a point of the page's own coordinates is displayed."""
        match self.turns:
            case 0:
                return x - self.x0, self.y1 - y
            case 1:
                return y - self.y0, x - self.x0
            case 2:
                return self.x1 - x, y - self.y0
            case _:
                return self.y1 - y, self.x1 - x

    def build_cover_matrix(self, width: float, height: float) -> Matrix:
        """Return the `cm` matrix with which an upright page of that size covers the view exactly."""
        across, up = self.width / width, self.height / height
        x, y = self.at(0, self.height)
        a, b, c, d = UPRIGHT[self.turns]
        return a * across, b * across, c * up, d * up, x, y


UPRIGHT = ((1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0))


def find_visible_area(
    media: Sequence[float] | None, crop: Sequence[float] | None, rotate: float
) -> VisibleArea:
    """Return the visible part: the CropBox within the MediaBox, turned.

    A missing or empty box is replaced by the next larger one, and a missing MediaBox by the size of US Letter.
    """
    sheet = _order_box(media) or LETTER
    seen = _intersect_boxes(sheet, _order_box(crop) or sheet) or sheet
    return VisibleArea(*seen, int(rotate / 90) % 4)


Box = tuple[float, float, float, float]


def _order_box(box: Sequence[float] | None) -> Box | None:
    if box is None or len(box) != 4:
        return None
    x0, x1 = sorted((box[0], box[2]))
    y0, y1 = sorted((box[1], box[3]))
    return (x0, y0, x1, y1) if x1 > x0 and y1 > y0 else None


def _intersect_boxes(one: Box, other: Box) -> Box | None:
    x0, y0 = max(one[0], other[0]), max(one[1], other[1])
    x1, y1 = min(one[2], other[2]), min(one[3], other[3])
    return (x0, y0, x1, y1) if x1 > x0 and y1 > y0 else None

"""Whether two pictures of a page show the same ink at the same place: what was seen, and what was sealed."""

from dataclasses import dataclass

from PIL import Image, ImageChops, ImageFilter

# How much darker a dot must have become in every colour to be ink, and at least to be what ink may lie near: fields
# have edges and washes in the colour of their recipient.
DARK, FAINT = 90, 40
NEAR = 2  # dots by which edges may differ where two programs draw them
SAME = 0.97  # share of the ink that must lie near ink of the other picture
# By how much more ink one picture may have: two programs draw thin lines differently, a bold face has half more.
HEAVIER = 0.35

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Ink:
    """How dark it is, and white where it is clearly there, and ever so faintly."""

    dark: Image.Image
    clear: Image.Image
    faint: Image.Image

    def part(self, box: Box) -> "Ink":
        return Ink(self.dark.crop(box), self.clear.crop(box), self.faint.crop(box))

    @property
    def weight(self) -> int:
        return sum(level * dots for level, dots in enumerate(self.dark.histogram()) if level > FAINT)


@dataclass(frozen=True)
class Likeness:
    """`seen` of the ink that was seen lies near sealed ink, `sealed` the other way; `off`: edges, share of the page.

    `heavier` is by how much more ink the one has than the other.
    """

    seen: float
    sealed: float
    off: float
    heavier: float

    @property
    def holds(self) -> bool:
        return min(self.seen, self.sealed) >= SAME and self.off < 0.005 and self.heavier < HEAVIER


def ink(bare: Image.Image, written: Image.Image) -> Ink:
    """What was written on the bare page."""
    darker = ImageChops.subtract(lightest(bare), lightest(written))
    clear, faint = (darker.point([0] * least + [255] * (256 - least)) for least in (DARK, FAINT))
    return Ink(darker, clear, faint)


def lightest(picture: Image.Image) -> Image.Image:
    """The largest part of each dot's colour."""
    red, green, blue = picture.convert("RGB").split()
    return ImageChops.lighter(ImageChops.lighter(red, green), blue)


def likeness(seen: Ink, sealed: Ink, page: tuple[int, int]) -> Likeness:
    """Of ink in the same part of a page of that size."""
    edges = off(seen.clear.getbbox(), sealed.clear.getbbox(), page)
    light, heavy = sorted((seen.weight, sealed.weight))
    heavier = heavy / light - 1 if light else 1.0
    return Likeness(measure_cover(seen, sealed), measure_cover(sealed, seen), edges, heavier)


def measure_cover(ink: Ink, other: Ink) -> float:
    around = other.faint.filter(ImageFilter.MaxFilter(2 * NEAR + 1))
    amount = dots(ink.clear)
    return dots(ImageChops.multiply(ink.clear, around)) / amount if amount else 0.0


def dots(picture: Image.Image) -> int:
    return picture.histogram()[255]


def off(seen: Box | None, sealed: Box | None, page: tuple[int, int]) -> float:
    """By how much the ink's four edges differ at most; what can come of drawing is nothing."""
    if seen is None or sealed is None:
        return 1.0
    apart = [abs(one - other) for one, other in zip(seen, sealed, strict=True)]
    return max(dots / page[at % 2] if dots > NEAR else 0 for at, dots in enumerate(apart))


def shift_ink(ink: Ink, right: int, down: int) -> Ink:
    """The same, moved by so many dots."""
    return Ink(*(ImageChops.offset(picture, right, down) for picture in (ink.dark, ink.clear, ink.faint)))

"""Lists of names within a sentence: `Ada, Bo and Cy`, or `Ada, Bo, Cy and 4 others`."""

from collections.abc import Sequence
from functools import reduce

from markupsafe import Markup, escape

from esign.web.office.frame.words import OfficeWords

NAMED = 3


def list_names(names: Sequence[str], t: OfficeWords, most: int = NAMED) -> Markup:
    """Return the names as a list; beyond `most` of them only how many others there are.

    Each name is isolated from the writing direction of the others, unless it is Markup. The characters for that work
    in scripts too, where an element cannot stand.
    """
    shown = [name if isinstance(name, Markup) else escape(f"\u2068{name}\u2069") for name in names[:most]]
    others = len(names) - len(shown)
    said, last = shown[0], len(shown) - 1
    for n, name in enumerate(shown[1:], 1):
        said = t("list.two" if n == last and not others else "list.comma", a=said, b=name)
    return t.count("list.more", others, a=said) if others else said


def list_parts(parts: Sequence[str], t: OfficeWords) -> Markup:
    """Return parts one after the other, such as `title, message`; an empty text for none."""
    return reduce(lambda a, b: t("list.comma", a=a, b=b), map(escape, parts)) if parts else Markup()


def isolate_name(name: str) -> Markup:
    """Return a name for the inside of a sentence, isolated from the sentence's writing direction."""
    return Markup(f"<bdi>{escape(name)}</bdi>")  # noqa: S704  (escaped)

"""Turn a Markdown file of the manual into HTML, a list of its headings, and its text for the search."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from esign.web.office.manual.contents import EXAMPLE, find_folder, list_names

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

ROOT = "/docs"
PICTURE = re.compile(r"images/([a-z0-9-]+\.(?:webp|png|svg))")
PAGE_LINK = re.compile(r"([a-z0-9-]+)\.md(#[^#]*)?")
# Files beside the pages that the server has at an address of its own.
SERVED = {"openapi.json": "/api/v1/openapi.json", f"../{EXAMPLE}": f"{ROOT}/{EXAMPLE}"}
BREAKS = ("softbreak", "hardbreak")
OUTSIDE = re.compile(r"https?://|/|#|mailto:")
# The only HTML in the Markdown: comments, and a part that is folded away.
COMMENT = re.compile(r"<!--[^<>]*-->\n?")
FOLD = re.compile(r"(?:</details>\n?)?<details>\n<summary>[^<>]*</summary>\n?|</details>\n?")


class UnfitPage(ValueError):
    """A page of the manual holds something that is not rendered, such as HTML."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below the title: `level` is 2 or more, `id` is its anchor."""

    level: int
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """The text between two headings, for the search. `heading` is None above the first."""

    heading: Heading | None
    text: str


@dataclass(frozen=True, slots=True)
class ManualPage:
    """A rendered page. `body` is everything below the title."""

    name: str
    title: str
    body: Markup
    headings: tuple[Heading, ...]
    passages: tuple[Passage, ...]


@cache
def load_page(name: str) -> ManualPage:
    """Return a page of the manual, rendered at its first use. Raise OSError for a file that there is not."""
    return render_page(name, (find_folder() / f"{name}.md").read_text("utf-8"))


@cache
def read_title(name: str) -> str:
    """Return the title of a page, which is its first line, without rendering it."""
    with (find_folder() / f"{name}.md").open(encoding="utf-8") as file:
        return file.readline().removeprefix("# ").strip()


@cache
def read_lead(name: str) -> str:
    """Return the first paragraph of a page as plain text, without rendering the rest."""
    paragraphs = (find_folder() / f"{name}.md").read_text("utf-8").split("\n\n", 2)
    return next(
        (read_text(token) for token in make_parser().parse(paragraphs[1]) if token.type == "inline"), ""
    )


def load_all() -> Iterator[ManualPage]:
    """Yield all pages in the order of the contents."""
    return map(load_page, list_names())


def render_page(name: str, text: str) -> ManualPage:
    """Return the Markdown as a page. Raise UnfitPage for a page without a title, or with HTML in it."""
    parser = make_parser()
    tokens = parser.parse(text)
    if len(tokens) < 3 or (tokens[0].type, tokens[0].tag) != ("heading_open", "h1"):
        raise UnfitPage(f"{name}.md does not begin with its title")
    title = read_text(tokens[1])
    body = tokens[3:]
    headings = tuple(name_headings(body))
    for token in body:
        rewrite_addresses(token.children or ())
        if style := token.attrs.pop(
            "style", None
        ):  # the alignment of a cell; the policy allows no inline style
            token.attrs["class"] = str(style).replace("text-align:", "to-")
    for opening, inline, closing in zip(body, body[1:], body[2:], strict=False):
        if opening.type == "th_open" and not inline.content:  # a header without words is none
            opening.tag = closing.tag = "td"
    rendered = parser.renderer.render(body, parser.options, {"page": name})
    # The Markdown is part of the program, and the parser has escaped everything that is not its own.
    return ManualPage(name, title, Markup(rendered), headings, tuple(cut_passages(body, headings)))  # noqa: S704


@cache
def make_parser() -> "MarkdownIt":
    """Return the parser: CommonMark with tables. Its import takes 30 ms, so it waits for the first page."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    rules: dict[str, Callable[..., str]] = {
        "fence": draw_code,
        "code_block": draw_code,
        "html_block": draw_fold,
        "html_inline": refuse_html,
        "table_open": open_table,
        "table_close": close_table,
    }
    parser.renderer.rules |= rules  # type: ignore[attr-defined]  # a dict of bound methods, which takes functions
    return parser


def read_text(token: "Token") -> str:
    """Return the plain text of an inline token: without marks, with code and the descriptions of pictures."""
    texts = (" " if child.type in BREAKS else child.content for child in token.children or ())
    return " ".join("".join(texts).split())


def name_headings(tokens: Sequence["Token"]) -> Iterator[Heading]:
    """Give each heading an anchor, as code hosts name it, and yield the headings."""
    seen: dict[str, int] = {}
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        text = read_text(inline)
        anchor = make_anchor(text)
        again = seen[anchor] = seen.get(anchor, -1) + 1
        anchor = f"{anchor}-{again}" if again else anchor
        opening.attrs = {"id": anchor, "tabindex": "-1"}
        yield Heading(int(opening.tag[1]), anchor, text)


def make_anchor(text: str) -> str:
    """Return the anchor of a heading, as code hosts make it: `A disk that fills up` is `a-disk-that-fills-up`."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def rewrite_addresses(tokens: Sequence["Token"]) -> None:
    """Let links and pictures lead to where the server has their targets. A link to nothing served becomes text."""
    tags = []
    for token in tokens:
        if token.type == "image":
            found = PICTURE.fullmatch(str(token.attrs["src"]))
            if found is None:
                raise UnfitPage(f"a picture lies outside docs/images: {token.attrs['src']}")
            token.attrs |= {"src": f"{ROOT}/images/{found[1]}", "loading": "lazy", "decoding": "async"}
        elif token.type == "link_open":
            address = find_address(str(token.attrs["href"]))
            token.attrs = {"href": address} if address else {}
            tags.append("a" if address else "span")
            token.tag = tags[-1]
        elif token.type == "link_close":
            token.tag = tags.pop()


def find_address(target: str) -> str | None:
    """Return the address at which the server has the target of a link, or None if it does not serve it."""
    if OUTSIDE.match(target):
        return target
    if found := PAGE_LINK.fullmatch(target):
        return f"{ROOT}/{found[1]}{found[2] or ''}" if found[1] in list_names() else None
    return SERVED.get(target)


def draw_code(tokens: Sequence["Token"], at: int, options: Any, env: Any) -> str:
    """Return a block of code. It takes the focus, since it scrolls on a narrow screen."""
    language = tokens[at].info.strip() or "text"
    content = escape(tokens[at].content)
    return str(
        Markup('<pre class="code" tabindex="0" role="group" aria-label="{}"><code>{}</code></pre>\n').format(
            LABELS.get(language, "Example"), content
        )
    )


LABELS = {"sh": "Commands", "toml": "Configuration", "ini": "Unit", "nginx": "Configuration of nginx"}


def draw_fold(tokens: Sequence["Token"], at: int, options: Any, env: Any) -> str:
    """Return the beginning or end of a part that is folded away, without comments. Raise UnfitPage for other HTML."""
    content = COMMENT.sub("", tokens[at].content)
    if content.strip() and FOLD.fullmatch(content) is None:
        raise UnfitPage(f"{env['page']}.md holds HTML: {content[:80]!r}")
    return content


def refuse_html(tokens: Sequence["Token"], at: int, options: Any, env: Any) -> str:
    """Raise UnfitPage: HTML within a line is not rendered."""
    raise UnfitPage(f"{env['page']}.md holds HTML: {tokens[at].content!r}")


def open_table(tokens: Sequence["Token"], at: int, options: Any, env: Any) -> str:
    """Return the beginning of a table, in a part that scrolls on a narrow screen."""
    return '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n'


def close_table(tokens: Sequence["Token"], at: int, options: Any, env: Any) -> str:
    """Return the end of a table."""
    return "</table></div>\n"


def cut_passages(tokens: Sequence["Token"], headings: Sequence[Heading]) -> Iterator[Passage]:
    """Yield the texts between the headings."""
    left, heading, texts = list(headings), None, list[str]()
    skipped = False
    for token in tokens:
        if token.type == "heading_open":
            yield Passage(heading, " ".join(texts))
            heading, texts, skipped = left.pop(0), [], True
        elif token.type == "inline":
            if not skipped:
                texts.append(read_text(token))
            skipped = False
        elif token.type in ("fence", "code_block"):
            texts.append(" ".join(token.content.split()))
    yield Passage(heading, " ".join(texts))

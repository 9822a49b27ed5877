"""Search the pages of the manual: an index in memory, made at the first search."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import log
from unicodedata import combining, normalize

from markupsafe import Markup, escape

from esign.web.office.manual.rendering import ROOT, ManualPage, Passage, load_all

LONGEST, MOST_TERMS = 300, 24  # characters of a query, and terms of it; a pasted error message fits
MOST = 20  # results
BEGUN = 0.6  # the worth of a word that only begins with a term
HEADING_FACTOR = 20.0  # how much more a result weighs whose heading is in the query
UNKNOWN_WEIGHT = 0.5  # of a term that no passage has
AROUND = 90  # characters of an excerpt before the first term
EXCERPT = 240
IN_TITLE, IN_HEADING = 6.0, 4.0  # against 1 for a term in the text
ENOUGH = 0.5  # the part of the query's weight that a result must hold, so that a message with a number in it is found
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """The passages of all pages, and the pairs of words of their headings.

    `words` are in order, `places` are the passages of each with its weight there.
    """

    passages: tuple[tuple[ManualPage, Passage], ...]
    headings: tuple[frozenset[tuple[str, str]], ...]
    words: Sequence[str]
    places: Mapping[str, Mapping[int, float]]

    def find(self, term: str) -> Mapping[int, float]:
        """Return the passages that have a word which begins with the term, each with how well it fits."""
        found: dict[int, float] = defaultdict(float)
        for at in range(bisect_left(self.words, term), len(self.words)):
            word = self.words[at]
            if not word.startswith(term):
                break
            for passage, weight in self.places[word].items():
                found[passage] = max(found[passage], weight * (1.0 if word == term else BEGUN))
        return found


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A place that was found: its address, the titles of page and heading, and an excerpt with its terms marked."""

    address: str
    page: str
    heading: str | None
    excerpt: Markup


def split_terms(text: str) -> tuple[str, ...]:
    """Return the folded words of a text: `E-Mails` gives `e` and `mails`."""
    bare = "".join(letter for letter in normalize("NFKD", text.casefold()) if not combining(letter))
    return tuple(WORD.findall(bare))


@cache
def build_index() -> SearchIndex:
    """Return the index. It takes some 400 ms, most of it for rendering the pages."""
    passages = tuple((page, passage) for page in load_all() for passage in page.passages)
    places: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for at, (page, passage) in enumerate(passages):
        heading = passage.heading.text if passage.heading else page.title
        for text, weight in ((page.title, IN_TITLE), (heading, IN_HEADING), (passage.text, 1.0)):
            for word in set(split_terms(text)):
                places[word][at] += weight
    headings = tuple(pair_words(passage.heading.text if passage.heading else "") for _, passage in passages)
    return SearchIndex(passages, headings, sorted(places), places)


def search_pages(query: str) -> list[SearchResult]:
    """Return the passages that fit a query best, at most `MOST`. A term finds the words that begin with it."""
    terms = tuple(dict.fromkeys(split_terms(query[:LONGEST])))[:MOST_TERMS]
    pairs = pair_words(query[:LONGEST])
    index = build_index()
    scores: dict[int, float] = defaultdict(float)
    covered: dict[int, float] = defaultdict(float)
    whole = 0.0
    for term in terms:
        found = index.find(term)
        # The rarer a term, the more it weighs. One that no passage has, such as a name in a message, weighs little.
        rarity = log(1 + len(index.passages) / len(found)) if found else UNKNOWN_WEIGHT
        whole += rarity
        for at, fit in found.items():
            scores[at] += rarity * fit
            covered[at] += rarity
    ranked = {}
    for at, score in scores.items():
        shared = share_pairs(index.headings[at], pairs)
        if covered[at] >= ENOUGH * whole or shared >= ENOUGH:
            ranked[at] = score * covered[at] * (1.0 + HEADING_FACTOR * shared**2)
    fitting = sorted(ranked, key=lambda at: (-ranked[at], at))
    return [show_result(*index.passages[at], terms) for at in fitting[:MOST]]


def share_pairs(heading: frozenset[tuple[str, str]], query: frozenset[tuple[str, str]]) -> float:
    """Return the part of the pairs of words of a heading that the query has too.

    A pasted message holds the heading of its remedy. Without this, a long passage would come first, since it has most
    words of a long query.
    """
    return len(heading & query) / len(heading) if heading else 0.0


def pair_words(text: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of words that follow one another."""
    return frozenset(pairwise(split_terms(text)))


def show_result(page: ManualPage, passage: Passage, terms: Sequence[str]) -> SearchResult:
    """Return a passage as a result."""
    heading = passage.heading
    address = f"{ROOT}/{page.name}{f'#{heading.id}' if heading else ''}"
    return SearchResult(
        address, page.title, heading.text if heading else None, cut_excerpt(passage.text, terms)
    )


def cut_excerpt(text: str, terms: Sequence[str]) -> Markup:
    """Return the part of a text around its first term, with each term marked."""
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, terms))})\w*", re.IGNORECASE)
    first = pattern.search(text)
    begin = max(0, first.start() - AROUND) if first else 0
    begin = text.find(" ", begin) + 1 if begin else 0
    part = text[begin : begin + EXCERPT]
    if begin + EXCERPT < len(text):
        part = part.rpartition(" ")[0] or part
    marked = Markup("").join(mark_terms(part, pattern))
    return Markup("{}{}{}").format(
        "… " if begin else "", marked, " …" if begin + len(part) < len(text) else ""
    )


def mark_terms(part: str, pattern: re.Pattern[str]) -> Iterator[Markup]:
    """Yield the pieces of a text, those that the pattern finds as marked ones."""
    at = 0
    for found in pattern.finditer(part):
        yield escape(part[at : found.start()])
        yield Markup("<mark>{}</mark>").format(found[0])
        at = found.end()
    yield escape(part[at:])

"""Keep the structure that screen readers follow whole, and join that of the certificate page to it.

A file without a structure gets none: readers would then find the certificate page in it and nothing of the
document.
"""

from collections.abc import Sequence
from typing import Any

from pikepdf import Array, Dictionary, Name, NameTree, NumberTree, Object, Page, Pdf, PikepdfError


def find_tree(pdf: Pdf) -> Object | None:
    """Return the root of the structure if the file is marked as tagged, or None."""
    tree, info = pdf.Root.get(Name.StructTreeRoot), pdf.Root.get(Name.MarkInfo)
    marked: object = isinstance(info, Dictionary) and info.get(Name.Marked)
    return tree if isinstance(tree, Dictionary) and marked is True else None


def drop_broken_tree(pdf: Pdf) -> None:
    """Remove a structure that cannot be read to its end: no reader could follow it, and nothing can be joined to it."""
    try:
        tree = find_tree(pdf)
        if tree is None or Name.ParentTree not in tree:
            return
        values = [value for _, value in NumberTree(tree.ParentTree).items()]
        if all(isinstance(value, Array | Dictionary) for value in values):
            return
    except (PikepdfError, ValueError, TypeError, KeyError, AttributeError):
        pass
    for key in (Name.StructTreeRoot, Name.MarkInfo):
        if key in pdf.Root:
            del pdf.Root[key]


def join_trees(pdf: Pdf, further: Pdf, first: int) -> None:
    """Append the structure of `further` to that of `pdf`, whose pages already hold those of `further` from
    index `first`.
    """
    tree, other = find_tree(pdf), find_tree(further)
    added = list(pdf.pages)[first:]
    if tree is None or other is None:
        for page in added:
            _forget_page(page)
        return
    copy = pdf.copy_foreign(other)
    start = _renumber_pages(pdf, tree, added)
    parents = NumberTree(tree.ParentTree)
    for key, value in NumberTree(copy.ParentTree).items():
        parents[start + key] = value
    _lend_entries(tree, copy, "/RoleMap")
    if Name.IDTree in copy:
        _join_ids(pdf, tree, copy)
    elements = _list_children(copy)
    for element in elements:
        element.P = tree
        if Name.Lang in further.Root:
            element.Lang = str(further.Root.Lang)
    _adopt_elements(tree, elements)


def _renumber_pages(pdf: Pdf, tree: Object, added: list[Page]) -> int:
    """Renumber the structure references of the added pages behind all numbers of the tree. Return by how much."""
    if not isinstance(tree.get(Name.ParentTree), Dictionary):
        tree.ParentTree = NumberTree.new(pdf).obj
    used = [key for key, _ in NumberTree(tree.ParentTree).items()]
    start, highest = max([-1, *used]) + 1, -1
    for page in added:
        for holder, name in (
            (page.obj, Name.StructParents),
            *((note, Name.StructParent) for note in page.obj.get(Name.Annots, [])),
        ):
            if name in holder:
                highest = max(highest, int(holder[name]))
                holder[name] = start + int(holder[name])
    tree.ParentTreeNextKey = start + highest + 1
    return start


def _lend_entries(tree: Object, copy: Object, name: str) -> None:
    """Add the entries of a dictionary of `copy` that the tree does not have."""
    if not isinstance(tree.get(name), Dictionary):
        tree[name] = Dictionary()
    for key, value in copy.get(name, Dictionary()).items():
        if key not in tree[name]:
            tree[name][key] = value


def _join_ids(pdf: Pdf, tree: Object, copy: Object) -> None:
    """Add the ids of `copy` that the tree does not have; table cells name their headings by these."""
    if not isinstance(tree.get(Name.IDTree), Dictionary):
        tree.IDTree = NameTree.new(pdf).obj
    names = NameTree(tree.IDTree)
    for key, value in NameTree(copy.IDTree).items():
        if key not in names:
            names[key] = value


def _list_children(tree: Object) -> list[Object]:
    below = tree.get(Name.K)
    return list(below) if isinstance(below, Array) else [below] if isinstance(below, Dictionary) else []


def _adopt_elements(tree: Object, elements: Sequence[Object]) -> None:
    tree.K = Array([*_list_children(tree), *elements])


def _forget_page(page: Page) -> None:
    """Remove a page's references into a structure that does not come with it."""
    for tagged in (page.obj, *page.obj.get(Name.Annots, [])):
        for key in (Name.StructParents, Name.StructParent, Name.Tabs):
            if key in tagged:
                del tagged[key]


class AdditionTags:
    """Tags what is painted over pages, so that it is read after the document.

    The additions become part of the structure by `join_tree`: at once, because each change of its lists copies them.
    """

    def __init__(self, pdf: Pdf) -> None:
        self._pdf = pdf
        self._tree = find_tree(pdf)
        self._added: list[Object] = []
        if self._tree is not None and not isinstance(self._tree.get(Name.ParentTree), Dictionary):
            self._tree.ParentTree = NumberTree.new(pdf).obj
        self._parents = NumberTree(self._tree.ParentTree) if self._tree is not None else None
        self._next: int | None = None

    def tag_addition(self, page: Page) -> tuple[bytes, bytes]:
        """Return the operators before and after something painted over a page."""
        if self._tree is None or self._parents is None:
            return b"", b""
        key: Any = page.obj.get(Name.StructParents)
        known = self._parents[key] if isinstance(key, int) and key in self._parents else None
        if not isinstance(known, Array):
            key = page.obj.StructParents = self._take_key(self._parents)
            known = Array()
        number = len(known)
        element = self._pdf.make_indirect(
            Dictionary(Type=Name.StructElem, S=Name.P, P=self._tree, Pg=page.obj, K=number)
        )
        known.append(element)
        self._parents[key] = known
        self._added.append(element)
        return b"/P <</MCID %d>> BDC " % number, b" EMC"

    def _take_key(self, parents: NumberTree) -> int:
        """Return a key that no page has yet."""
        if self._next is None:
            self._next = max([-1, *(number for number, _ in parents.items())])
        self._next += 1
        return self._next

    def join_tree(self) -> None:
        """Add what has been tagged to the end of the structure."""
        if self._tree is None or not self._added:
            return
        if self._next is not None:
            self._tree.ParentTreeNextKey = self._next + 1
        _adopt_elements(self._tree, self._added)

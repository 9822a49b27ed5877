"""Keep the structure that screen readers follow whole, and join that of the certificate page to it.

A file without a structure gets none: readers would then find the certificate page in it and nothing of the
document.
"""

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
    for element in _list_children(copy):
        element.P = tree
        if Name.Lang in further.Root:
            element.Lang = str(further.Root.Lang)
        _adopt_element(tree, element)


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


def _adopt_element(tree: Object, element: Object) -> None:
    tree.K = Array([*_list_children(tree), element])


def _forget_page(page: Page) -> None:
    """Remove a page's references into a structure that does not come with it."""
    for tagged in (page.obj, *page.obj.get(Name.Annots, [])):
        for key in (Name.StructParents, Name.StructParent, Name.Tabs):
            if key in tagged:
                del tagged[key]


def tag_addition(pdf: Pdf, page: Page) -> tuple[bytes, bytes]:
    """Return the operators before and after something painted over a page, so that it is read after the document."""
    tree = find_tree(pdf)
    if tree is None:
        return b"", b""
    if not isinstance(tree.get(Name.ParentTree), Dictionary):
        tree.ParentTree = NumberTree.new(pdf).obj
    parents = NumberTree(tree.ParentTree)
    key: Any = page.obj.get(Name.StructParents)
    known = parents[key] if isinstance(key, int) and key in parents else None
    if not isinstance(known, Array):
        key = max([-1, *(number for number, _ in parents.items())]) + 1
        known = parents[key] = pdf.make_indirect(Array())
        page.obj.StructParents = key
        tree.ParentTreeNextKey = key + 1
    number = len(known)
    element = pdf.make_indirect(Dictionary(Type=Name.StructElem, S=Name.P, P=tree, Pg=page.obj, K=number))
    parents[key] = Array([*known, element])
    _adopt_element(tree, element)
    return b"/P <</MCID %d>> BDC " % number, b" EMC"

"""What a screen reader is told of a sealed file: of a tagged one all of it, of any other as much as before."""

import io
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, NumberTree, Pdf

from esign.pdf.intake import normalise
from esign.pdf.intake.active_content import write_objects
from esign.pdf.page import structure_tags
from esign.pdf.verify.validate import verify_signatures
from tests.papers import a_story, draw_story
from tests.pdf.drawing.test_papers import elements
from tests.pdf.local_seal import seal_document
from tests.pdf.sealing import a_field, a_pdf, an_order, save_pdf
from tests.pki import NOW, a_seal, an_authority

ROOT = an_authority()
CREDENTIAL = a_seal(ROOT).credential


def tag_pages(numbers: Any = None) -> bytes:
    """Two pages; a heading on the first, nothing on the second, or whatever `numbers` makes of their tree."""
    with pikepdf.open(io.BytesIO(a_pdf({}, {}))) as pdf:
        page = pdf.pages[0]
        page.obj.Contents = pdf.make_stream(b"/H1 <</MCID 0>> BDC BT /F1 12 Tf 60 60 Td (Lease) Tj ET EMC")
        page.obj.StructParents = 4
        tree = pdf.make_indirect(Dictionary(Type=Name.StructTreeRoot))
        heading = pdf.make_indirect(Dictionary(Type=Name.StructElem, S=Name.H1, P=tree, Pg=page.obj, K=0))
        tree.K, tree.ParentTree = heading, NumberTree.new(pdf).obj
        if numbers is None:
            NumberTree(tree.ParentTree)[4] = Array([heading])
        else:
            tree.ParentTree = numbers
        pdf.Root.StructTreeRoot, pdf.Root.MarkInfo, pdf.Root.Lang = tree, Dictionary(Marked=True), "fr"
        return save_pdf(pdf)


def seal_prepared(prepared: bytes) -> Pdf:
    fields = [a_field("name", "Jo Li", page=1), a_field("text", "Ring twice", page=2)]
    made = seal_document(an_order(prepared, *fields), CREDENTIAL).sealed
    assert verify_signatures(made, [ROOT.der], NOW)["result"] == "valid"
    return pikepdf.open(io.BytesIO(made))


def test_the_certificate_and_the_values_join_the_structure_of_a_tagged_document() -> None:
    with seal_prepared(tag_pages()) as pdf:
        tree = pdf.Root.StructTreeRoot
        kinds = [str(element.S)[1:] for element in tree.K]
        assert kinds == ["H1", "P", "P", "Document"], "the document, its values, the certificate"
        assert str(tree.K[3].Lang) == "en" and str(pdf.Root.Lang) == "fr"
        assert [kind for kind, _ in elements(pdf) if kind in ("H1", "Table", "TH")][:3] == [
            "H1",
            "H1",
            "Table",
        ]
        parents = NumberTree(tree.ParentTree)
        for page in pdf.pages:
            held = parents[int(page.obj.StructParents)]
            assert len(held) and all(element.Pg.objgen == page.obj.objgen for element in held)
        assert [len(parents[int(page.obj.StructParents)]) for page in pdf.pages][:2] == [2, 1]
        link, _seal = pdf.pages[2].obj.Annots
        assert str(parents[int(link.StructParent)].S) == "/Link"
        assert int(tree.ParentTreeNextKey) > max(key for key, _ in parents.items())
        assert "/RoleMap" in tree and "/Strong" in tree.RoleMap


def test_what_is_filled_in_is_marked_on_its_page() -> None:
    with seal_prepared(tag_pages()) as pdf:
        painted = [pikepdf.parse_content_stream(page) for page in list(pdf.pages)[:2]]
        marks = [
            [
                str(one.operands[0]) + str(int(one.operands[1].MCID))
                for one in each
                if str(one.operator) == "BDC"
            ]
            for each in painted
        ]
        assert marks == [["/H10", "/P1"], ["/P0"]]


def test_a_document_without_structure_gets_none() -> None:
    """Readers would find the certificate in it and nothing else."""
    with seal_prepared(a_pdf({}, {})) as pdf:
        assert Name.StructTreeRoot not in pdf.Root and Name.StructParents not in pdf.pages[2].obj


@pytest.mark.parametrize(
    "numbers",
    [Dictionary(Nums=Array([4])), Dictionary(Nums=Array([Name.X, 1])), Dictionary(Nums=Array([4, 7])), 12],
    ids=["half", "no numbers", "no elements", "no tree"],
)
def test_a_structure_that_cannot_be_read_goes_and_the_file_is_sealed(numbers: Any) -> None:
    with seal_prepared(tag_pages(numbers)) as pdf:
        parents = pdf.Root.get(Name.StructTreeRoot, Dictionary()).get(Name.ParentTree)
        assert parents is None or len(list(NumberTree(parents).items())) > 0


def test_a_structure_is_looked_at_when_a_file_is_prepared() -> None:
    with pikepdf.open(io.BytesIO(tag_pages(Dictionary(Nums=Array([4, 7]))))) as pdf:
        normalise.normalise_pdf(pdf, write_objects(pdf))
        assert structure_tags.find_tree(pdf) is None and Name.StructTreeRoot not in pdf.Root


def test_headings_of_the_trail_are_found_by_the_cells_that_name_them() -> None:
    with pikepdf.open(io.BytesIO(draw_story(a_story("en", 1), "en"))) as alone:
        named = set(pikepdf.NameTree(alone.Root.StructTreeRoot.IDTree).keys())
    with seal_prepared(tag_pages()) as pdf:
        assert named <= set(pikepdf.NameTree(pdf.Root.StructTreeRoot.IDTree).keys())

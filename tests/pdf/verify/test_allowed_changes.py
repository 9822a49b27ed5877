"""What may be appended to a signed form: proof, and nothing that tells viewers how to show or compute its fields."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import signers
from pyhanko.sign.fields import MDPPerm, SigSeedSubFilter

from esign.pdf.verify.validate import verify_signatures
from tests.pdf.attacks import Change, dictionary, rectangle, stream
from tests.pdf.forging import FALSE_PAGE, append_update
from tests.pdf.local_seal import seal_document
from tests.pdf.others import a_stamper, certificate, key, signed_in_loop, stamped_in_loop, store
from tests.pdf.proofs import a_list, number, with_proofs
from tests.pdf.sealing import a_pdf, an_order, save_pdf
from tests.pdf.stamping import BLANK, PLACES, stamped_by_others
from tests.pki import NOW, a_seal, an_authority

ROOT = an_authority()
SEAL = a_seal(ROOT)
TSA = an_authority("Test Time Stamps Root")


def result(file: bytes) -> str:
    return verify_signatures(file, (ROOT.der, TSA.der), NOW)["result"]


# ---------- forms of others ----------


def a_form(*, indirect: bool, entries: bool) -> bytes:
    """Two fields, one computed from the other; the form and its resources under numbers of their own or not."""
    with pikepdf.open(io.BytesIO(a_pdf())) as pdf:
        page = pdf.pages[0]

        def field(name: str, value: str, top: int, **more: Any) -> Any:
            look = pdf.make_stream(b"0 g", Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 99, 20]))
            return pdf.make_indirect(
                Dictionary(
                    Type=Name.Annot,
                    Subtype=Name.Widget,
                    FT=Name.Tx,
                    T=String(name),
                    V=String(value),
                    DA=String("/Helv 12 Tf 0 g"),
                    Rect=Array([50, top, 150, top + 20]),
                    AP=Dictionary(N=look),
                    P=page.obj,
                    **more,
                )
            )

        script = Dictionary(S=Name.JavaScript, JS=String("event.value = 9999999"))
        fields = [field("sum", "10", 700), field("total", "10", 650, AA=Dictionary(C=script))]
        page.Annots = Array(fields)
        form = Dictionary(Fields=Array(fields))
        if entries:
            font = pdf.make_indirect(Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Courier))
            resources = Dictionary(Font=Dictionary(Helv=font))
            form.DR = pdf.make_indirect(resources) if indirect else resources
            form.DA = String("/Helv 0 Tf 0 g")
            form.Q = 0
            form.NeedAppearances = False
            form.CO = Array([fields[0]])
        pdf.Root.AcroForm = pdf.make_indirect(form) if indirect else form
        return save_pdf(pdf, static_id=True)


def certify_form(form: bytes, permission: MDPPerm) -> bytes:
    signer = signers.SimpleSigner(certificate(SEAL), key(SEAL), store(*SEAL.issuers))
    about = signers.PdfSignatureMetadata(
        field_name="Seal",
        md_algorithm="sha256",
        subfilter=SigSeedSubFilter.PADES,
        certify=True,
        docmdp_permissions=permission,
    )
    return bytes(signers.sign_pdf(IncrementalPdfFileWriter(io.BytesIO(form)), about, signer).getvalue())


def signed_forms() -> Iterator[tuple[str, bytes]]:
    for indirect in (True, False):
        for entries in (True, False):
            form = a_form(indirect=indirect, entries=entries)
            name = f"{'indirect' if indirect else 'direct'}, {'full' if entries else 'bare'}"
            yield f"signed {name}", signed_in_loop(form, SEAL, "One", None)
            for permission in (MDPPerm.NO_CHANGES, MDPPerm.FILL_FORMS):
                yield f"certified {permission.name} {name}", certify_form(form, permission)
    yield "sealed here", seal_document(an_order(a_pdf()), SEAL.credential).sealed


FORMS = dict(signed_forms())


def setting(**entries: Callable[[IncrementalPdfFileWriter], generic.PdfObject | None]) -> Change:
    """Sets entries of the form, or takes them away."""

    def change(writer: IncrementalPdfFileWriter) -> None:
        form = writer.root["/AcroForm"]
        for name, value in entries.items():
            made = value(writer)
            if made is None:
                form.pop("/" + name, None)
            else:
                form[generic.pdf_name("/" + name)] = made
        touch_form(writer)

    return change


def touch_form(writer: IncrementalPdfFileWriter) -> None:
    held = writer.root.raw_get("/AcroForm")
    if isinstance(held, generic.IndirectObject):
        writer.mark_update(held)
    else:
        writer.update_root()  # type: ignore[no-untyped-call]


def another_font(writer: IncrementalPdfFileWriter) -> generic.DictionaryObject:
    """A font in which every digit looks like a nine."""
    shape = stream(writer, FALSE_PAGE)
    font = dictionary(
        Type=generic.pdf_name("/Font"),
        Subtype=generic.pdf_name("/Type3"),
        FontBBox=rectangle(0, 0, 9, 9),
        CharProcs=dictionary(nine=shape),
    )
    return dictionary(Font=dictionary(Helv=writer.add_object(font)))


def resources_overwritten(writer: IncrementalPdfFileWriter) -> None:
    """Under the number they have, where they have one."""
    form = writer.root["/AcroForm"]
    held = form.raw_get("/DR") if "/DR" in form else None
    if isinstance(held, generic.IndirectObject):
        writer.objects[(held.reference.generation, held.reference.idnum)] = another_font(writer)
    else:
        form[generic.pdf_name("/DR")] = another_font(writer)
        touch_form(writer)


def font_overwritten(writer: IncrementalPdfFileWriter) -> None:
    form = writer.root["/AcroForm"]
    if "/DR" not in form:
        return resources_overwritten(writer)
    held = form["/DR"]["/Font"].raw_get("/Helv").reference
    writer.objects[(held.generation, held.idnum)] = another_font(writer)["/Font"]["/Helv"]
    return None


def text(content: str) -> Callable[[IncrementalPdfFileWriter], generic.PdfObject]:
    return lambda _: generic.pdf_string(content)


def all_fields(writer: IncrementalPdfFileWriter) -> generic.PdfObject:
    return generic.ArrayObject(reversed(writer.root["/AcroForm"]["/Fields"]))


TRUE = generic.BooleanObject(True)  # type: ignore[no-untyped-call]  # pyHanko leaves it without types
SHOWN_OTHERWISE: dict[str, Change] = {
    "appearances made anew": setting(NeedAppearances=lambda _: TRUE),
    "another default look": setting(DA=text("/Helv 99 Tf 1 g")),
    "another alignment": setting(Q=lambda _: number(2)),
    "other resources": setting(DR=another_font),
    "other resources and a default look": setting(DR=another_font, DA=text("/Helv 9 Tf 0 g")),
    "other resources under their number": resources_overwritten,
    "another font under its number": font_overwritten,
    "another order of calculation": setting(CO=all_fields),
    "an order of calculation and appearances made anew": setting(
        CO=all_fields, NeedAppearances=lambda _: TRUE
    ),
    "a form in XML": setting(XFA=lambda writer: stream(writer, b"<xdp/>")),
    "an unknown entry": setting(Unknown=lambda _: number(1)),
    "the same in new words": setting(DA=text("/Helv 0 Tf 0 g "), Q=lambda _: number(1)),
}


def later_proof(how: str, file: bytes) -> bytes:
    """The file with honest proof behind the change, which must not cover it."""
    if how == "proofs":
        return with_proofs(file, a_list(ROOT, NOW))
    return stamped_in_loop(file, a_stamper()) if how == "stamp" else file


@pytest.mark.parametrize(
    ("form", "behind"),
    [
        (form, behind)
        for form in FORMS
        for behind in ("nothing", "stamp", "proofs")[: 1 + ("bare" not in form)]
    ],
)
def test_what_changes_how_a_signed_form_is_shown_is_a_change(form: str, behind: str) -> None:
    found = {
        name: result(later_proof(behind, append_update(change, FORMS[form])))
        for name, change in SHOWN_OTHERWISE.items()
    }
    assert found == dict.fromkeys(SHOWN_OTHERWISE, "invalid")


@pytest.mark.parametrize("form", FORMS)
def test_proof_behind_a_signed_form_leaves_it_valid(form: str) -> None:
    file = FORMS[form]
    proved = with_proofs(file, a_list(ROOT, NOW))
    for honest in (file, proved, stamped_in_loop(file, a_stamper()), stamped_in_loop(proved, a_stamper())):
        assert result(honest) == "valid"


def test_a_form_of_signatures_alone_has_no_values_and_its_change_is_a_doubt() -> None:
    """PDFBox 2 adds default resources to each form that it signs, among them forms with nothing but signatures."""
    file = signed_in_loop(a_pdf(), SEAL, "One", None)
    added = setting(DR=another_font, DA=text("/Helv 0 Tf 0 g "))
    assert result(append_update(added, file)) == "indeterminate"
    assert result(stamped_in_loop(append_update(added, file), a_stamper())) == "indeterminate"


def test_entries_taken_out_of_a_form_are_a_change() -> None:
    for name, file in FORMS.items():
        for entry in ("DR", "DA", "Q", "CO"):
            if "full" in name:
                gone = append_update(setting(**{entry: lambda _: None}), file)
                assert result(gone) == "invalid", (name, entry)


# ---------- time stamps over the document that others add ----------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", FORMS)
def test_a_stamp_in_an_invisible_field_with_an_empty_look_is_proof(form: str, place: str) -> None:
    """As EU DSS and PDFBox add it: beside the page's annotations, with a look that paints nothing."""
    for look in BLANK.values():
        once = stamped_by_others(FORMS[form], look, PLACES[place], "First")
        assert result(once) == "valid"
        assert result(stamped_by_others(once, look, PLACES[place], "Second")) == "valid"
        proved = with_proofs(FORMS[form], a_list(ROOT, NOW))
        assert result(stamped_by_others(proved, look, PLACES[place], "First")) == "valid"


PAINTS = {
    "a rectangle": FALSE_PAGE,
    "a rectangle behind a comment": b"% nothing\n" + FALSE_PAGE,
    "another form": b"/Other Do",
    "an unfinished string": b"(",
    "much of nothing": b" " * 100_000,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("paints", PAINTS)
def test_a_stamp_with_a_look_that_paints_is_not_only_proof(paints: str, place: str) -> None:
    for form, file in FORMS.items():
        stamped = stamped_by_others(file, PAINTS[paints], PLACES[place], "First")
        assert result(stamped) != "valid", form


def test_a_look_that_paints_later_makes_the_stamp_a_change() -> None:
    for form, file in FORMS.items():
        stamped = stamped_by_others(file, b"", PLACES["on the page"], "First")

        def paint(writer: IncrementalPdfFileWriter) -> None:
            [field] = [
                one for one in writer.root["/AcroForm"]["/Fields"] if one.get_object()["/T"] == "First"
            ]
            look = field.get_object()["/AP"].raw_get("/N").reference
            writer.objects[(look.generation, look.idnum)] = stream(writer).get_object()

        assert result(append_update(paint, stamped)) != "valid", form


def test_a_visible_field_is_never_proof_whatever_its_look() -> None:
    for form, file in FORMS.items():
        for look in BLANK.values():
            assert (
                result(stamped_by_others(file, look, PLACES["on the page"], "First", (9, 9, 99, 99)))
                != "valid"
            ), form


def test_an_ordinary_signature_in_such_a_field_is_not_proof() -> None:
    for form, file in FORMS.items():
        if form.startswith("signed"):
            assert (
                result(signed_in_loop(file, a_seal(ROOT, name="Second"), "Two", None)) == "indeterminate"
            ), form

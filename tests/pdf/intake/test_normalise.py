"""What normalising takes out of a file, and that what is seen stays."""

import io
from collections.abc import Callable, Iterable

import pikepdf
import pypdfium2
import pypdfium2.raw as pdfium
import pytest
from pikepdf import Array, Dictionary, Name, Object, Pdf, Stream, String
from PIL import Image, ImageChops

from esign.core.errors import Problem
from esign.pdf.inspection import REMOVALS
from esign.pdf.intake import normalise
from esign.pdf.intake.active_content import write_objects
from tests.pdf import made
from tests.pdf.made import blank, script, write_pdf


def normalise_pdf(pdf: Pdf) -> tuple[bytes, set[str]]:
    with Pdf.open(io.BytesIO(write_pdf(pdf))) as again:
        removed = normalise.normalise_pdf(again, write_objects(again))
        return normalise.write_pdf(again), removed


def text(file: bytes) -> bytes:
    """Everything that is written in the file, nothing compressed."""
    with Pdf.open(io.BytesIO(file)) as pdf:
        return write_pdf(
            pdf,
            object_stream_mode=pikepdf.ObjectStreamMode.disable,
            stream_decode_level=pikepdf.StreamDecodeLevel.generalized,
            compress_streams=False,
        )


def picture(file: bytes) -> Image.Image:
    document = pypdfium2.PdfDocument(file)
    drawn: Image.Image = document[0].render(scale=2, may_draw_forms=False).to_pil().convert("RGB")
    document.close()
    return drawn


def annotate(pdf: Pdf, **entries: object) -> Object:
    """Add an annotation with a green look to the first page."""
    look = pdf.make_stream(b"0 1 0 rg 0 0 50 30 re f", Subtype=Name.Form, BBox=Array([0, 0, 50, 30]))
    settings = {"/Type": Name.Annot, "/Rect": Array([100, 100, 150, 130]), "/F": 4, "/AP": Dictionary(N=look)}
    settings |= {f"/{key}": value for key, value in entries.items()}
    page = pdf.pages[0].obj
    if "/Annots" not in page:
        page.Annots = Array()
    annotation = pdf.make_indirect(Dictionary(settings))
    page.Annots.append(annotation)
    return annotation


def green(file: bytes) -> bool:
    return (0, 255, 0) in {colour for _, colour in picture(file).getcolors(1 << 20) or []}


def says_something(file: bytes) -> bool:
    """Whether there is something dark where the field of the form is."""
    darkest, _ = picture(file).crop((200, 140, 300, 200)).convert("L").getextrema()
    return isinstance(darkest, int) and darkest < 64


def on_opening(pdf: Pdf) -> None:
    pdf.Root.OpenAction = script()


def by_name(pdf: Pdf) -> None:
    pdf.Root.Names = Dictionary(JavaScript=Dictionary(Names=Array([String("a"), script()])))


def on_closing_a_page(pdf: Pdf) -> None:
    pdf.pages[0].obj.AA = Dictionary(C=script())


def in_a_link(pdf: Pdf) -> None:
    annotate(pdf, Subtype=Name.Link, A=pdf.make_indirect(script()))


def after_a_jump(pdf: Pdf) -> None:
    jump = Dictionary(S=Name.GoTo, D=Array([pdf.pages[0].obj, Name.Fit]), Next=Array([script()]))
    annotate(pdf, Subtype=Name.Link, A=jump)


def in_a_bookmark(pdf: Pdf) -> None:
    entry = pdf.make_indirect(Dictionary(Title=String("a"), A=script()))
    pdf.Root.Outlines = pdf.make_indirect(Dictionary(First=entry, Last=entry, Count=1))


def in_a_field(pdf: Pdf) -> None:
    field = annotate(pdf, Subtype=Name.Widget, FT=Name.Tx, T=String("a"), AA=Dictionary(K=script()))
    pdf.Root.AcroForm = Dictionary(Fields=Array([field]))


def in_a_field_known_to_the_structure(pdf: Pdf) -> None:
    in_a_field(pdf)
    reference = Dictionary(Type=Name.OBJR, Obj=pdf.pages[0].obj.Annots[0])
    pdf.Root.StructTreeRoot = pdf.make_indirect(Dictionary(Type=Name.StructTreeRoot, K=reference))


@pytest.mark.parametrize(
    "hide",
    [
        on_opening,
        by_name,
        on_closing_a_page,
        in_a_link,
        after_a_jump,
        in_a_bookmark,
        in_a_field,
        in_a_field_known_to_the_structure,
    ],
)
def test_a_script_goes_wherever_it_hangs(hide: Callable[[Pdf], None]) -> None:
    pdf = blank()
    hide(pdf)
    file, removed = normalise_pdf(pdf)
    assert "scripts" in removed
    assert b"/JavaScript" not in text(file)
    assert b"alert" not in text(file)


ACTIONS = {
    "launch": (Dictionary(S=Name.Launch, F=String("x.exe")), "actions"),
    "submit": (Dictionary(S=Name.SubmitForm, F=String("http://example.com")), "actions"),
    "reset": (Dictionary(S=Name.ResetForm), "actions"),
    "import": (Dictionary(S=Name.ImportData, F=String("x.fdf")), "actions"),
    "another file": (Dictionary(S=Name.GoToR, F=String("x.pdf")), "actions"),
    "hide": (Dictionary(S=Name.Hide, T=String("a")), "actions"),
    "layers": (Dictionary(S=Name.SetOCGState, State=Array()), "actions"),
    "print": (Dictionary(S=Name.Named, N=Name.Print), "actions"),
    "unknown": (Dictionary(S=Name("/Whatever")), "actions"),
    "rendition": (Dictionary(S=Name.Rendition, OP=0), "multimedia"),
    "script address": (Dictionary(S=Name.URI, URI=String("javascript:alert(1)")), "actions"),
    "local address": (Dictionary(S=Name.URI, URI=String("file:///etc/passwd")), "actions"),
}


@pytest.mark.parametrize("kind", ACTIONS)
def test_an_action_goes(kind: str) -> None:
    action, word = ACTIONS[kind]
    pdf = blank()
    annotate(pdf, Subtype=Name.Link, A=action)
    file, removed = normalise_pdf(pdf)
    assert removed == {word}
    assert bytes(str(action.S), "ascii") not in text(file)


@pytest.mark.parametrize(
    "action",
    [
        Dictionary(S=Name.URI, URI=String("https://example.com/")),
        Dictionary(S=Name.URI, URI=String("mailto:a@example.com")),
        Dictionary(S=Name.URI, URI=String("page.html")),
        Dictionary(S=Name.Named, N=Name.NextPage),
        Dictionary(S=Name.GoTo, D=String("chapter")),
    ],
)
def test_a_harmless_link_stays(action: Dictionary) -> None:
    pdf = blank()
    annotate(pdf, Subtype=Name.Link, A=action)
    file, removed = normalise_pdf(pdf)
    assert removed == set()
    with Pdf.open(io.BytesIO(file)) as again:
        assert action == again.pages[0].obj.Annots[0].A


def test_a_link_cannot_cover_what_is_stamped_later() -> None:
    pdf = blank()
    annotate(pdf, Subtype=Name.Link)
    file, _ = normalise_pdf(pdf)
    with Pdf.open(io.BytesIO(file)) as again:
        assert "/AP" not in again.pages[0].obj.Annots[0]
    assert green(file)


def test_a_place_to_open_at_goes_without_a_word() -> None:
    pdf = blank()
    pdf.Root.OpenAction = Array([pdf.pages[0].obj, Name.Fit])
    assert normalise_pdf(pdf)[1] == set()


def attach_file(pdf: Pdf) -> Dictionary:
    data = pdf.make_stream(b"MZ not harmless", Type=Name.EmbeddedFile)
    return pdf.make_indirect(Dictionary(Type=Name.Filespec, F=String("a.exe"), EF=Dictionary(F=data)))


def by_tree(pdf: Pdf) -> None:
    pdf.Root.Names = Dictionary(EmbeddedFiles=Dictionary(Names=Array([String("a"), attach_file(pdf)])))


def as_a_pin(pdf: Pdf) -> None:
    annotate(pdf, Subtype=Name.FileAttachment, FS=attach_file(pdf))


def as_an_associate(pdf: Pdf) -> None:
    pdf.Root.AF = Array([attach_file(pdf)])


def of_a_page(pdf: Pdf) -> None:
    pdf.pages[0].obj.AF = Array([attach_file(pdf)])


def of_an_element(pdf: Pdf) -> None:
    element = pdf.make_indirect(Dictionary(Type=Name.StructElem, S=Name.P, AF=Array([attach_file(pdf)])))
    pdf.Root.StructTreeRoot = pdf.make_indirect(Dictionary(Type=Name.StructTreeRoot, K=element))


def in_a_portfolio(pdf: Pdf) -> None:
    by_tree(pdf)
    pdf.Root.Collection = Dictionary(Type=Name.Collection, View=Name.D)


@pytest.mark.parametrize(
    "hide", [by_tree, as_a_pin, as_an_associate, of_a_page, of_an_element, in_a_portfolio]
)
def test_an_attachment_goes_wherever_it_hangs(hide: Callable[[Pdf], None]) -> None:
    pdf = blank()
    hide(pdf)
    file, removed = normalise_pdf(pdf)
    assert removed == {"attachments"}
    assert b"MZ not harmless" not in text(file)
    assert not green(file)


@pytest.mark.parametrize("kind", ["/RichMedia", "/Screen", "/Movie", "/Sound", "/3D"])
def test_multimedia_go_with_what_they_show(kind: str) -> None:
    pdf = blank()
    annotate(pdf, Subtype=Name(kind), RichMediaContent=Dictionary(), Movie=Dictionary(F=String("a.mov")))
    file, removed = normalise_pdf(pdf)
    assert removed == {"multimedia"}
    assert not green(file)
    assert b"a.mov" not in text(file)


def test_content_does_not_come_from_other_files() -> None:
    pdf = blank()
    image = pdf.make_stream(b"", Subtype=Name.Image, Width=1, Height=1, F=String("/etc/passwd"))
    image.Alternates = Array([Dictionary(Image=pdf.make_stream(b""), DefaultForPrinting=True)])
    pdf.pages[0].obj.Resources.XObject = Dictionary(I=image)
    file, removed = normalise_pdf(pdf)
    assert removed == {"attachments", "alternate images"}
    assert b"passwd" not in text(file)


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
@pytest.mark.parametrize("content", [made.SQUARE, b"Q 0.5 0 0 0.5 0 0 cm Q q 2 0 0 2 0 0 cm", b"(and"])
def test_an_annotation_becomes_part_of_its_page(rotate: int, content: bytes) -> None:
    pdf = blank(content=content)
    pdf.pages[0].obj.Rotate = rotate
    annotate(pdf, Subtype=Name.Stamp, Contents=String("a"))
    before = picture(write_pdf(pdf))
    file, removed = normalise_pdf(pdf)
    assert removed == {"annotations"}
    assert ImageChops.difference(before, picture(file)).getbbox() is None
    assert green(file)
    assert b"/Stamp" not in text(file)


@pytest.mark.parametrize("entries", [{"F": 2}, {"F": 32}, {"Subtype": Name.Popup}])
def test_what_is_hidden_stays_unseen(entries: dict[str, object]) -> None:
    pdf = blank()
    annotate(pdf, **({"Subtype": Name.Stamp} | entries))
    file, _ = normalise_pdf(pdf)
    assert not green(file)
    assert b"/Annots" not in text(file).replace(b"/Annots [ ]", b"")


def test_an_annotation_of_a_hidden_layer_stays_unseen() -> None:
    pdf = blank()
    layer = pdf.make_indirect(Dictionary(Type=Name.OCG, Name=String("a")))
    pdf.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(OFF=Array([layer])))
    annotate(pdf, Subtype=Name.Stamp, OC=layer)
    assert not green(normalise_pdf(pdf)[0])


def field(pdf: Pdf, **entries: object) -> Object:
    """A text field that says Hello, without a look of its own unless given."""
    settings = {
        "FT": Name.Tx,
        "T": String("a"),
        "V": String("Hello"),
        "DA": String("/F1 20 Tf 0 g"),
        "AP": Dictionary(),
    }
    added = annotate(pdf, Subtype=Name.Widget, **(settings | entries))
    pdf.Root.AcroForm = Dictionary(Fields=Array([added]), DR=pdf.pages[0].obj.Resources)
    return added


def test_a_value_without_a_look_gets_one() -> None:
    pdf = blank(content=b"")
    field(pdf)
    file, removed = normalise_pdf(pdf)
    assert removed == {"form fields"}
    assert says_something(file)
    assert b"/AcroForm" not in text(file)


def test_a_form_that_asks_for_it_is_drawn_anew() -> None:
    pdf = blank(content=b"")
    look = pdf.make_stream(b"0 1 0 rg 0 0 50 30 re f", Subtype=Name.Form, BBox=Array([0, 0, 50, 30]))
    field(pdf, AP=Dictionary(N=look))
    pdf.Root.AcroForm.NeedAppearances = True
    assert says_something(normalise_pdf(pdf)[0])


def test_a_look_uses_the_fonts_of_the_form() -> None:
    pdf = blank(content=b"")
    look = pdf.make_stream(
        b"BT /Lent 20 Tf 5 5 Td (Hello) Tj ET", Subtype=Name.Form, BBox=Array([0, 0, 50, 30])
    )
    field(pdf, AP=Dictionary(N=look))
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Courier)
    pdf.Root.AcroForm.DR = Dictionary(Font=Dictionary(Lent=font))
    file, _ = normalise_pdf(pdf)
    assert b"/Courier" in text(file)
    assert says_something(file)


def test_an_empty_signature_field_is_no_hindrance() -> None:
    pdf = blank()
    field(pdf, FT=Name.Sig, V=None)
    assert normalise_pdf(pdf)[1] == {"form fields"}


def on_screen_and_on_paper(file: bytes) -> tuple[bytes, bytes]:
    """A page as pdfium draws it, and as it prints it."""
    document = pypdfium2.PdfDocument(file)
    seen = [bytes(document[0].render(extra_flags=flags).buffer) for flags in (0, pdfium.FPDF_PRINTING)]
    document.close()
    return seen[0], seen[1]


@pytest.mark.parametrize("listed", [True, False, None], ids=["listed", "unlisted", "without a list"])
@pytest.mark.parametrize("direct", [True, False], ids=["direct", "indirect"])
@pytest.mark.parametrize("form", [True, False], ids=["form", "marked content"])
def test_a_layer_is_on_paper_what_it_is_on_screen(listed: bool | None, direct: bool, form: bool) -> None:
    pdf = blank()
    usage = Dictionary(Print=Dictionary(PrintState=Name.ON), View=Dictionary(ViewState=Name.OFF))
    made_layer = Dictionary(Type=Name.OCG, Name=String("a"), Usage=usage)
    layer = made_layer if direct else pdf.make_indirect(made_layer)
    page = pdf.pages[0].obj
    if form:
        box = Array([0, 0, 999, 999])
        held = pdf.make_stream(made.SQUARE, Type=Name.XObject, Subtype=Name.Form, BBox=box, OC=layer)
        page.Resources.XObject = Dictionary(X=held)
        page.Contents = pdf.make_stream(b"/X Do")
    else:
        page.Resources.Properties = Dictionary(L=layer)
        page.Contents = pdf.make_stream(b"/OC /L BDC " + made.SQUARE + b"EMC")
    if listed is not None:
        pdf.Root.OCProperties = Dictionary(OCGs=Array([layer] if listed else []), D=Dictionary())
    screen, paper = on_screen_and_on_paper(write_pdf(pdf))
    assert screen != paper, "it is one"
    file, removed = normalise_pdf(pdf)
    screen, paper = on_screen_and_on_paper(file)
    assert screen == paper and removed == {"layer states"}


def test_layers_have_one_state_that_cannot_change() -> None:
    pdf = blank()
    usage = Dictionary(Print=Dictionary(PrintState=Name.OFF), View=Dictionary(ViewState=Name.OFF))
    layer = pdf.make_indirect(Dictionary(Type=Name.OCG, Name=String("a"), Usage=usage))
    automatic = Dictionary(Event=Name.Print, OCGs=Array([layer]), Category=Array([Name.Print]))
    default = Dictionary(ON=Array([layer]), AS=Array([automatic]))
    other = Dictionary(OFF=Array([layer]))
    pdf.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=default, Configs=Array([other]))
    page = pdf.pages[0].obj
    page.Contents = pdf.make_stream(b"/OC /L BDC " + made.SQUARE + b"EMC")
    page.Resources.Properties = Dictionary(L=layer)
    file, removed = normalise_pdf(pdf)
    assert removed == {"layer states"}
    with Pdf.open(io.BytesIO(file)) as again:
        layers = again.Root.OCProperties
        assert "/Configs" not in layers and "/AS" not in layers.D and "/Usage" not in layers.OCGs[0]
        assert layers.D.Locked[0] == layers.OCGs[0]
    assert picture(file).getpixel((80, 320)) == (0, 0, 255)


XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">%s</x:xmpmeta>'


@pytest.mark.parametrize(
    ("metadata", "stays"),
    [
        (XMP % b"", True),
        (XMP % b"<unclosed>", False),
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]>" + XMP % b"&b;", False),
        (b"<!DOCTYPE a SYSTEM 'file:///etc/passwd'>" + XMP % b"", False),
        (b"", False),
    ],
)
def test_metadata_stay_when_they_are_sound(metadata: bytes, stays: bool) -> None:
    pdf = blank()
    pdf.Root.Metadata = pdf.make_stream(metadata, Type=Name.Metadata, Subtype=Name.XML)
    file, removed = normalise_pdf(pdf)
    assert removed == (set() if stays else {"metadata"})
    with Pdf.open(io.BytesIO(file)) as again:
        assert isinstance(again.Root.get("/Metadata"), Stream) is stays


@pytest.mark.parametrize("info", [135, True, Name.Title, Array([])])
def test_information_that_is_no_dictionary_goes(info: object) -> None:
    pdf = blank()
    pdf.trailer.Info = info
    file, removed = normalise_pdf(pdf)
    assert removed == {"metadata"}
    with Pdf.open(io.BytesIO(file)) as again:
        assert "/Info" not in again.trailer


def claiming(pdf: Pdf, properties: str) -> None:
    spaces = " ".join(f'xmlns:{name}="{space}"' for name, space in SPACES.items())
    text = f"{RDF[0]}<rdf:Description rdf:about='' {spaces} {properties}/>{RDF[1]}"
    pdf.Root.Metadata = pdf.make_stream(text.encode(), Type=Name.Metadata, Subtype=Name.XML)


RDF = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">',
    "</rdf:RDF></x:xmpmeta>",
)
SPACES = {
    "a": "http://www.aiim.org/pdfa/ns/id/",
    "ua": "http://www.aiim.org/pdfua/ns/id/",
    "e": "http://www.aiim.org/pdfe/ns/id/",
    "x": "http://www.npes.org/pdfx/ns/id/",
    "vt": "http://www.npes.org/pdfvt/ns/id/",
    "old": "http://ns.adobe.com/pdfx/1.3/",
    "dc": "http://purl.org/dc/elements/1.1/",
}


@pytest.mark.parametrize(
    "claim",
    [
        "a:part='2' a:conformance='B'",
        "ua:part='1'",
        "e:ISO_PDFEVersion='PDF/E-1'",
        "x:GTS_PDFXVersion='PDF/X-4'",
        "vt:GTS_PDFVTVersion='PDF/VT-1'",
        "old:GTS_PDFXVersion='PDF/X-1:2001' old:GTS_PDFXConformance='PDF/X-1a:2001'",
    ],
)
def test_a_claim_to_keep_to_a_standard_goes_by_its_name_and_other_metadata_stay(claim: str) -> None:
    with blank() as pdf:
        claiming(pdf, f"{claim} dc:format='application/pdf'")
        assert normalise.normalise_pdf(pdf, write_objects(pdf)) == {"conformance claims"}
        left = pdf.Root.Metadata.read_bytes()
    values = [f'"{value}"'.encode() for value in claim.split("'")[1::2]]
    assert b"application/pdf" in left and not [value for value in values if value in left]


def test_a_claim_that_is_made_twice_goes_twice() -> None:
    with blank() as pdf:
        claiming(pdf, f"a:part='2'/><rdf:Description rdf:about='' xmlns:b='{SPACES['a']}' b:part='1'")
        assert normalise.normalise_pdf(pdf, write_objects(pdf)) == {"conformance claims"}
        assert b"part" not in pdf.Root.Metadata.read_bytes()


def test_a_claim_in_the_document_information_goes_too() -> None:
    with blank() as pdf:
        pdf.docinfo["/GTS_PDFXVersion"], pdf.docinfo["/Title"] = "PDF/X-3:2002", "Poster"
        assert normalise.normalise_pdf(pdf, write_objects(pdf)) == {"conformance claims"}
        assert set(pdf.docinfo.keys()) == {"/Title"}


def test_metadata_without_a_claim_stay_byte_for_byte() -> None:
    with blank() as pdf:
        claiming(pdf, "dc:format='application/pdf'")
        before = pdf.Root.Metadata.read_bytes()
        assert normalise.normalise_pdf(pdf, write_objects(pdf)) == set()
        assert pdf.Root.Metadata.read_bytes() == before


def test_what_serves_other_programs_goes_without_a_word() -> None:
    pdf = blank()
    pdf.Root.PieceInfo = Dictionary(X=Dictionary())
    pdf.pages[0].obj.Thumb = pdf.make_stream(b"another picture")
    pdf.Root.Lang = String("en")
    file, removed = normalise_pdf(pdf)
    assert removed == set()
    assert b"/PieceInfo" not in text(file) and b"another picture" not in text(file)
    assert b"/Lang" in text(file)


def test_every_page_says_itself_what_is_seen_of_it() -> None:
    pdf = blank()
    tree, page = pdf.Root.Pages, pdf.pages[0].obj
    del page.MediaBox
    tree.MediaBox, tree.CropBox, tree.Rotate = Array([300, 200, 0, 0]), Array([-9, 10, 900, 90]), -90
    with Pdf.open(io.BytesIO(normalise_pdf(pdf)[0])) as again:
        page = again.pages[0].obj
        assert [float(n) for n in page.MediaBox] == [0, 0, 300, 200]
        assert [float(n) for n in page.CropBox] == [0, 10, 300, 90]
        assert page.Rotate == 270


def test_equal_files_give_equal_bytes() -> None:
    first, _ = normalise_pdf(blank(pages=3))
    second, _ = normalise_pdf(blank(pages=3))
    assert first == second


def test_nothing_of_an_earlier_revision_is_left() -> None:
    file = write_pdf(blank(), object_stream_mode=pikepdf.ObjectStreamMode.disable)
    at = file.rindex(b"startxref\n") + len(b"startxref\n")
    previous = int(file[at:].split()[0])
    update = b"\n99 0 obj\n(an earlier thought)\nendobj\nxref\n99 1\n%010d 00000 n \ntrailer\n" % (
        len(file) + 1
    )
    file += update + b"<</Size 100/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n" % (
        previous,
        len(file) + update.index(b"xref"),
    )
    with Pdf.open(io.BytesIO(file)) as pdf:
        normalise.normalise_pdf(pdf, write_objects(pdf))
        assert b"an earlier thought" not in text(normalise.write_pdf(pdf))


STATIC = b"<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'><config><acrobat7><dynamicRender>forbidden</dynamicRender>"
DYNAMIC = STATIC.replace(b"forbidden", b" required ")


def form_of(pdf: Pdf, packets: Iterable[bytes]) -> None:
    parts = [item for packet in packets for item in (String("part"), pdf.make_stream(packet))]
    pdf.Root.AcroForm = Dictionary(Fields=Array(), XFA=Array(parts))


def test_a_static_form_loses_its_xfa() -> None:
    pdf = blank()
    form_of(pdf, [STATIC])
    normalise.refuse_dynamic(pdf)
    file, removed = normalise_pdf(pdf)
    assert removed == {"XFA form"}
    assert b"xdp" not in text(file)


@pytest.mark.parametrize("packets", [[DYNAMIC], [b"<a/>", DYNAMIC], [b"<x:dynamicRender>required"]])
def test_a_dynamic_form_is_refused_by_its_settings(packets: list[bytes]) -> None:
    pdf = blank()
    form_of(pdf, packets)
    with pytest.raises(Problem) as refusal:
        normalise.refuse_dynamic(pdf)
    assert refusal.value.code == "file_unsupported"
    assert "XFA" in refusal.value.details[0].message


def test_a_dynamic_form_is_refused_by_its_flag() -> None:
    pdf = blank()
    form_of(pdf, [b"<a/>"])
    pdf.Root.NeedsRendering = True
    with pytest.raises(Problem):
        normalise.refuse_dynamic(pdf)


def test_every_word_for_what_goes_is_known() -> None:
    words = {word for _, word in ACTIONS.values()} | set(normalise.PARTS.values())
    assert words <= set(REMOVALS)

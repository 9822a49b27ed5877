"""PDFs made for these tests, known to no manifest: what an upload may be, harmless or not."""

import io
from datetime import UTC, datetime, timedelta

import pikepdf
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pikepdf import Array, Dictionary, Name, Pdf, String
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import signers

SQUARE = b"0 0 1 rg 20 20 60 60 re f\n"


def blank(pages: int = 1, content: bytes = SQUARE, size: tuple[float, float] = (300, 200)) -> Pdf:
    """An open PDF whose pages have that content, and Helvetica as /F1."""
    pdf = pikepdf.new()
    for _ in range(pages):
        page = pdf.add_blank_page(page_size=size)
        page.obj.Contents = pdf.make_stream(content)
        font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
        page.obj.Resources = Dictionary(Font=Dictionary(F1=font))
    return pdf


def write_pdf(pdf: Pdf, **how: object) -> bytes:
    file = io.BytesIO()
    pdf.save(file, static_id=True, fix_metadata_version=False, **how)  # type: ignore[arg-type]
    return file.getvalue()


def plain() -> bytes:
    return write_pdf(blank())


def script() -> Dictionary:
    return Dictionary(S=Name.JavaScript, JS=String("app.alert('hello')"))


def make_scripted() -> bytes:
    """Scripts on opening, by name, on a page, in a link and in a bookmark."""
    pdf = blank()
    pdf.Root.OpenAction = script()
    pdf.Root.Names = Dictionary(JavaScript=Dictionary(Names=Array([String("a"), script()])))
    pdf.pages[0].obj.AA = Dictionary(O=script())
    link = Dictionary(
        Type=Name.Annot, Subtype=Name.Link, Rect=Array([0, 0, 9, 9]), A=pdf.make_indirect(script())
    )
    pdf.pages[0].obj.Annots = Array([pdf.make_indirect(link)])
    entry = pdf.make_indirect(Dictionary(Title=String("a"), A=script()))
    pdf.Root.Outlines = pdf.make_indirect(Dictionary(First=entry, Last=entry, Count=1))
    return write_pdf(pdf)


def launching() -> bytes:
    pdf = blank()
    launch = Dictionary(S=Name.Launch, F=String("cmd.exe"))
    link = Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=Array([0, 0, 9, 9]), A=launch)
    pdf.pages[0].obj.Annots = Array([link])
    return write_pdf(pdf)


def playing() -> bytes:
    pdf = blank()
    film = Dictionary(
        Type=Name.Annot, Subtype=Name.RichMedia, Rect=Array([0, 0, 9, 9]), RichMediaContent=Dictionary()
    )
    pdf.pages[0].obj.Annots = Array([pdf.make_indirect(film)])
    return write_pdf(pdf)


def attaching() -> bytes:
    pdf = blank()
    pdf.attachments["evil.exe"] = b"MZ not harmless"
    return write_pdf(pdf)


def make_restricted() -> bytes:
    """Opens without a password, but only the owner may print it."""
    return write_pdf(blank(), encryption=pikepdf.Encryption(owner="owner", user="", R=6))


def make_disordered() -> bytes:
    """A trailer that counts too few objects, offsets that lead nowhere, junk before and behind."""
    file = write_pdf(blank(), object_stream_mode=pikepdf.ObjectStreamMode.disable)
    at = file.index(b"xref\n")
    table = file[at:].replace(b"0000", b"1111", 3).replace(b"/Size 5", b"/Size 3")
    return b"junk before\n" + file[:at] + table + b"\njunk behind"


def make_locked() -> bytes:
    return write_pdf(blank(), encryption=pikepdf.Encryption(owner="owner", user="secret", R=6))


def dynamic_form() -> bytes:
    pdf = blank()
    config = b'<config xmlns="http://www.xfa.org/schema/xci/3.0/"><acrobat><acrobat7><dynamicRender>required</dynamicRender>'
    pdf.Root.AcroForm = Dictionary(Fields=Array(), XFA=Array([String("config"), pdf.make_stream(config)]))
    return write_pdf(pdf)


def giant() -> bytes:
    pdf = blank()
    pdf.pages[0].obj.MediaBox = Array([0, 0, 20_000, 20_000])
    return write_pdf(pdf)


def looping() -> bytes:
    """A page tree that holds itself."""
    pdf = blank()
    pdf.Root.Pages.Kids.append(pdf.Root.Pages)
    pdf.Root.Pages.Count = 2
    return write_pdf(pdf)


def make_signed() -> bytes:
    writer = IncrementalPdfFileWriter(io.BytesIO(plain()))
    metadata = signers.PdfSignatureMetadata(field_name="Signature1")
    result: io.BytesIO = signers.sign_pdf(writer, metadata, signer=signer())
    return result.getvalue()


def make_cleared() -> bytes:
    """Signed, then the field emptied in a later revision: the signature is in the file, but nothing refers to it."""
    writer = IncrementalPdfFileWriter(io.BytesIO(make_signed()))
    field = writer.root["/AcroForm"]["/Fields"][0]
    del field["/V"]
    writer.mark_update(field.container_ref)
    file = io.BytesIO()
    writer.write(file)  # type: ignore[no-untyped-call]
    return file.getvalue()


def signer() -> signers.SimpleSigner:
    """Signs with a certificate made for the purpose."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Somebody")])
    begin = datetime(2020, 1, 1, tzinfo=UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin)
        .not_valid_after(begin + timedelta(days=36_500))
        .sign(key, hashes.SHA256())
    )
    packed = serialization.pkcs12.serialize_key_and_certificates(
        b"a", key, certificate, None, serialization.NoEncryption()
    )
    made: signers.SimpleSigner | None = signers.SimpleSigner.load_pkcs12_data(
        packed, other_certs=[], passphrase=None
    )
    assert made
    return made

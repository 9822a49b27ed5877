"""What lies in a sealed file, and other programs to read it with."""

import io
import os
import re
import subprocess
from pathlib import Path

import pikepdf
from asn1crypto import cms as asn1
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding


def contents(pdf: bytes) -> bytes:
    """The CMS in a sealed file, without the room behind it."""
    with pikepdf.open(io.BytesIO(pdf)) as file:
        whole = bytes(file.Root.AcroForm.Fields[0].V.Contents)
    return bytes(asn1.ContentInfo.load(whole).dump())


def read_covered_bytes(pdf: bytes) -> bytes:
    """The bytes that the signature is over."""
    found = re.search(rb"/ByteRange\s*\[\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)", pdf)
    assert found is not None
    start, length, second, rest = map(int, found.groups())
    return pdf[start : start + length] + pdf[second : second + rest]


def run(folder: Path, *command: str | Path) -> tuple[int, str]:
    ran = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HOME": str(folder)},
    )
    return ran.returncode, ran.stdout + ran.stderr


def pem(der: bytes) -> bytes:
    return x509.load_der_x509_certificate(der).public_bytes(Encoding.PEM)

"""The TLS context of the listener, which gives each new connection the certificate that is present then."""

import os
import ssl
import tempfile
from pathlib import Path

from esign.core.sentence import say
from esign.https.https_certificate import HttpsCertificate, HttpsProblem, UnfitCertificate

REFUSED_BY_TLS = "The certificate in {file} can’t be used for HTTPS: {error}."


class PresentContext:
    """`listener` is the context of the listening socket. Until there is a certificate it refuses every handshake."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._present: ssl.SSLContext | None = None
        self.listener = make_context()
        self.listener.sni_callback = self._choose

    def replace(self, certificate: HttpsCertificate, file: str) -> None:
        """Show this certificate to new connections from now on. `file` names it. Raise `UnfitCertificate`."""
        context = make_context()
        try:
            load_certificate(context, certificate, self._folder)
        except ssl.SSLError as error:
            sentence = say(REFUSED_BY_TLS, file=file, error=(error.reason or "?").lower().replace("_", " "))
            raise UnfitCertificate(HttpsProblem("TLS refuses the certificate", sentence)) from error
        self._present = context

    def _choose(self, connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> int | None:
        """Give a connection that begins the present certificate, whatever host name it asks for."""
        if self._present is None:
            return ssl.ALERT_DESCRIPTION_INTERNAL_ERROR
        connection.context = self._present
        return None


def make_context() -> ssl.SSLContext:
    """Return a context of a server for TLS 1.2 and 1.3, without a certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def load_certificate(context: ssl.SSLContext, certificate: HttpsCertificate, folder: Path) -> None:
    """Load a certificate and its key from memory. Raise ssl.SSLError, and OSError if `folder` takes no file.

    `ssl` reads files alone, and those on the disk may have changed since they were checked. So what was checked is in
    a file of mode 0600 for a moment. (A file in memory would have to be opened by /proc/self, which the system closes
    to a process that has become another user.)
    """
    number, name = tempfile.mkstemp(prefix=".pair.", dir=folder)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(certificate.key + b"\n" + certificate.chain)
        context.load_cert_chain(name)
    finally:
        Path(name).unlink()

"""Looks at the own address as a browser comes to it: its name, and the certificate that is shown there."""

import asyncio
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from esign.core.instant import Instant
from esign.system.system_lookup import NameUnanswered, SystemLookup

PATIENCE = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class AddressProbe:
    """What was found at an address: those of its name, until when its certificate is valid, and what is wrong.

    `unknown` says why something could not be tried from here.
    """

    addresses: tuple[str, ...] = ()
    certificate_ends: Instant | None = None
    wrong: str | None = None
    unknown: str | None = None


async def probe_address(
    url: str, *, tls: ssl.SSLContext | None = None, lookup: SystemLookup | None = None
) -> AddressProbe:
    """Look up the name of an address and, for https, greet its server. `tls` replaces the system's trust store."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        addresses = tuple(await (lookup or SystemLookup())(host))
    except NameUnanswered:
        return AddressProbe(unknown=f"no name server answered for {host}")
    except OSError:
        return AddressProbe(wrong=f"the name {host} has no address")
    if parts.scheme != "https":
        return AddressProbe(addresses)
    try:
        async with asyncio.timeout(PATIENCE):
            _, writer = await asyncio.open_connection(
                addresses[0], port, ssl=tls or ssl.create_default_context(), server_hostname=host
            )
    except ssl.SSLCertVerificationError as error:
        return AddressProbe(addresses, wrong=f"its certificate is refused: {error.verify_message}")
    except ssl.SSLError as error:
        return AddressProbe(addresses, wrong=f"no encrypted connection can be made: {error.reason}")
    except (OSError, TimeoutError) as error:
        reason = getattr(error, "strerror", None) or "no answer in time"
        return AddressProbe(addresses, unknown=f"port {port} of {host} does not answer from here: {reason}")
    try:
        certificate = writer.get_extra_info("peercert") or {}
    finally:
        writer.close()
    ends = certificate.get("notAfter")
    return AddressProbe(addresses, int(ssl.cert_time_to_seconds(ends)) * 1000 if ends else None)

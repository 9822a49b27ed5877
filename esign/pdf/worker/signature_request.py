"""What a worker asks the server in the middle of a job that seals: signatures over digests, and the answer.

The server asks the signer process. A worker that a file has taken over can thus have its own file sealed, as it could
before, but never sees the key, and during other jobs gets no signature at all.
"""

from collections.abc import Callable, Sequence

from esign.pdf.seal_order import SealFailed
from esign.pdf.worker import frames

SIGNING_TASKS = ("seal", "begin", "certificate")
MOST_DIGESTS = 2  # of the document and of its certificate page
DIGEST_SIZES = (32, 48, 64)

SignDigests = Callable[[Sequence[bytes]], Sequence[bytes]]


def pack_request(digests: Sequence[bytes]) -> list[bytes]:
    """Return the frame in which a worker asks."""
    return frames.pack_frame({"sign": list(digests)})


def is_request(body: object) -> bool:
    """Return whether a frame of a worker asks for signatures."""
    return isinstance(body, dict) and body.keys() == {"sign"}


def read_request(body: object, parts: Sequence[bytes]) -> list[bytes]:
    """Return the digests that a worker asks for. Raises `FrameError` if these are none."""
    match body:
        case {"sign": list(asked)}:
            digests = frames.rebuild_value(list[bytes], asked, parts)
            if 0 < len(digests) <= MOST_DIGESTS and all(len(digest) in DIGEST_SIZES for digest in digests):
                return digests
    raise frames.FrameError("The worker asks for something else than a seal.")


def pack_signatures(signatures: Sequence[bytes]) -> list[bytes]:
    """Return the frame with which the server answers."""
    return frames.pack_frame({"signatures": list(signatures)})


def pack_refusal(reason: str) -> list[bytes]:
    """Return the frame with which the server says why there are no signatures."""
    return frames.pack_frame({"refused": reason})


def read_signatures(body: object, parts: Sequence[bytes]) -> list[bytes]:
    """Return the signatures in the server's answer. Raises `SealFailed` with its reason if there are none."""
    match body:
        case {"refused": str(reason)}:
            raise SealFailed(reason)
        case {"signatures": list(given)}:
            return frames.rebuild_value(list[bytes], given, parts)
    raise frames.FrameError("The answer holds no signatures.")

"""The signer process: `python -I -m esign.pdf.signer.signer`, with messages on stdin and answers on stdout."""

import os
import resource
import sys
from collections.abc import Sequence
from typing import BinaryIO

from esign.pdf.signer.messages import READY, REFUSED, SIGNED, MessageError, pack_message, read_message
from esign.pdf.signer.signing_key import RefusedToSign, SigningKey, rehearse_signing
from esign.system import confinement

LIMITS = {
    resource.RLIMIT_AS: 512 * 1024 * 1024,
    resource.RLIMIT_FSIZE: 0,
    resource.RLIMIT_NOFILE: 8,
    resource.RLIMIT_CORE: 0,
}
MOST_KEYS = 4  # both modes, and one that is tried before it is used


def run_signer() -> None:
    """Take keys and sign digests with them, one after the other, until the pipe closes or a message is none."""
    confinement.lower_limits(LIMITS)
    rehearse_signing()
    with os.fdopen(0, "rb", closefd=False) as asked, os.fdopen(1, "wb", closefd=False) as answered:
        confined = confinement.confine_process((), opens_files=False)
        _send(answered, READY, [bytes((confined.landlock, confined.seccomp, confined.offline))])
        keys: dict[bytes, SigningKey] = {}
        while (message := read_message(asked.read)) is not None:
            try:
                _send(answered, SIGNED, _answer_message(keys, *message))
            except RefusedToSign as refusal:
                _send(answered, REFUSED, [str(refusal).encode()])


def _answer_message(keys: dict[bytes, SigningKey], kind: bytes, fields: Sequence[bytes]) -> list[bytes]:
    """Do what a message asks. Raises `RefusedToSign`, and `MessageError` if it is none."""
    match kind, fields:
        case b"L", [name, certificate_der, key_der]:
            keys.pop(name, None)
            keys[name] = SigningKey(certificate_der, key_der)
            if len(keys) > MOST_KEYS:
                del keys[next(iter(keys))]
            return []
        case b"S", [name, *digests] if digests and name in keys:
            return [keys[name].sign_digest(digest) for digest in digests]
    raise MessageError("The message asks for nothing that the signer does.")


def _send(answered: BinaryIO, kind: bytes, fields: Sequence[bytes]) -> None:
    answered.write(pack_message(kind, fields))
    answered.flush()


if __name__ == "__main__":
    run_signer()
    sys.exit(0)

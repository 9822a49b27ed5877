"""The certificates that documents are sealed with: made at the first start, uploaded, or named by the
configuration.

Decisions:

- Test mode has an authority of its own, so that trusting the live authority never means trusting a test seal.
- Keys are plain PKCS#8 files that only the server's user can read, because a process that can read them can
  read the database as well. Keys never enter the database, so that a copy of the database alone cannot seal.
- Certificates made here are renewed automatically, a seal 90 days before its end and its authority long before
  that: nobody remembers a date three years ahead, and documents that wait for a seal are worse than a new
  fingerprint. No file is overwritten (`self_signed`). What was sealed stays verifiable, earlier authorities
  stay trusted, and a crash leaves a usable pair.
- A certificate that an administrator chose is never replaced by one made here, not even after it has expired:
  seals wait, and the reason is shown. Certificates that are no longer used are kept without their keys
  (`retired`).
- A configured certificate comes before an uploaded one, and that before one made here (`selection`), because
  the configuration file is meant to decide. Certificates that were not made here pass the same checks
  (`checks`), which report all problems at once.
- The system's trust store is used only if the configuration asks for it (`trusted`): its roots vouch for names
  of web servers, and hardly any of them for signers of documents.
- `Keyring` is what a running program holds. It takes up renewed, uploaded and replaced certificates without a
  restart.
"""

from esign.authority.checks import (
    AuthorityError,
    MaterialFindings,
    MaterialSource,
    SealMaterial,
    SealNotice,
    examine_material,
)
from esign.authority.configured import SealFiles, find_configured_seal
from esign.authority.journal import SealChange, read_changes
from esign.authority.keyring import BY_ITSELF, HANGS, ChangedBy, Keyring
from esign.authority.parse_upload import open_upload
from esign.authority.selection import SealAuthority, find_known_own, find_known_roots, load_or_make_authority
from esign.authority.standing import SealStanding, read_seal_standing
from esign.authority.trusted import read_trusted_roots

__all__ = [
    "BY_ITSELF",
    "HANGS",
    "AuthorityError",
    "ChangedBy",
    "Keyring",
    "MaterialFindings",
    "MaterialSource",
    "SealAuthority",
    "SealChange",
    "SealFiles",
    "SealMaterial",
    "SealNotice",
    "SealStanding",
    "examine_material",
    "find_configured_seal",
    "find_known_own",
    "find_known_roots",
    "load_or_make_authority",
    "open_upload",
    "read_changes",
    "read_seal_standing",
    "read_trusted_roots",
]

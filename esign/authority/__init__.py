"""What documents are sealed with: certificates made at the first start, those of an uploaded file, or configured ones.

Decisions:
- Test mode has an authority of its own, so that whoever trusts the live one never trusts a test seal by it.
- Keys are plain PKCS#8 files that only the server's user can read: whoever reads them reads the database as well. They
  never enter the database, so that a copy of it alone cannot seal.
- What was made here is renewed by itself, a seal 90 days before its end and its authority long before that: nobody
  remembers a date three years ahead, and documents that wait for a seal are worse than a new fingerprint. No file is
  written over (`made`): what was sealed stays checkable, the authorities before stay trusted, and a crash leaves a
  usable pair.
- A certificate that somebody chose is never replaced by one made here, not even when it has expired: seals wait, and
  the reason is told. Of those that are no longer used the certificates are kept, without their keys (`used`).
- What is configured comes before what was uploaded, and that before what is made (`standing`): a file of configuration
  is meant to decide. What was not made here passes the same checks (`checks`), which tell every problem at once.
- The system's trust store counts only where it is asked for (`trusted`): its roots vouch for names of web servers, and
  hardly one of them for whoever signs documents.
- `Keyring` is what a running program holds; it takes without a restart what was renewed, uploaded or put in the files.
"""

from esign.authority.checks import AuthorityError, Findings, Material, Notice, Source, examine
from esign.authority.configured import Given, given
from esign.authority.journal import Change
from esign.authority.keyring import BY_ITSELF, By, Keyring
from esign.authority.parse_upload import opened
from esign.authority.selection import Authority, known_own, known_roots, load_or_make
from esign.authority.trusted import trusted_roots

__all__ = [
    "BY_ITSELF",
    "Authority",
    "AuthorityError",
    "By",
    "Change",
    "Findings",
    "Given",
    "Keyring",
    "Material",
    "Notice",
    "Source",
    "examine",
    "given",
    "known_own",
    "known_roots",
    "load_or_make",
    "opened",
    "trusted_roots",
]

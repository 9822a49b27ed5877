"""Fetch time stamps (RFC 3161) from the authorities of `[seal] tsa_urls`, which are asked in that order.

- The administrator chose the addresses, so private ones and plain http are allowed: tokens are signed, and many
  public authorities answer on http only. Link-local addresses stay out of reach, as for webhooks.
- A token is used only after it was checked: granted, for this signature, in answer to this request, signed by a
  certificate that is made for time stamps and valid at that time, and less than an hour from this machine's
  clock. Whether that certificate is trusted is decided when the file is verified, by the roots of the verifier.
- Any other answer, or none within ten seconds, is a failure of that authority, and the next one is asked. An
  authority that failed within the last minute is asked last. If all fail, every request within the next seconds
  fails at once with the same reason, so that a hundred waiting seals do not each wait for the same silence.
- Both files of a seal get their tokens from the same authority, at the same time, over kept connections.
- This machine's own time never replaces an answer.
"""

from esign.tsa.client import NoTimeStamp, TimeStampClient

__all__ = ["NoTimeStamp", "TimeStampClient"]

"""Time stamps (RFC 3161) from the authorities of `[seal] tsa_urls`, asked in that order.

- The addresses are the administrator's own, so private ones and plain http are allowed: tokens are signed, and many
  public authorities answer on http alone. Link-local addresses stay out of reach, as for webhooks.
- A token is used only after it was checked: granted, for this signature, in answer to this very question, signed by a
  certificate that is made for time stamps and valid at that time, and not an hour away from this machine's clock.
  Whether that certificate is trusted is not asked here: it is when the file is verified, by the roots of whoever does.
- Whatever else comes back, or nothing in ten seconds, is a failure of that authority, and the next one is asked. Who
  failed within the last minute is asked last. Where all fail, everybody who asks within the next seconds gets the same
  answer at once, so that a hundred waiting seals do not each wait for the same silence.
- Both files of a seal get their tokens from the same authority, at the same time, over connections that are kept.
- No answer is ever replaced by this machine's own time.
"""

from esign.tsa.client import NoTimeStamp, TimeStamps

__all__ = ["NoTimeStamp", "TimeStamps"]

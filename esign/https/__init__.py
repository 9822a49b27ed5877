"""HTTPS without a proxy: the certificate of this server, from an authority (ACME) or from files, and its renewal.

Decisions:

- `HttpsCertificates` is what a running program has. `refresh` looks whether something is due; a tick calls it.
- The listener has one `ssl.SSLContext` for its whole life, and this context hands each new connection the context of
  the present certificate (`present_context`). Connections that are open keep theirs, so nothing is interrupted.
- A certificate takes the place of another one only after it was checked with its key, its dates and its name. What
  does not hold stays outside, and the state says why.
- The account and the certificates lie in `https/` of the data folder, mode 0600, beside a record of failed orders, so
  that a program that restarts in a loop does not use up what the authority allows.
- An authority is spoken to by the `acme` library of Certbot, in a thread of its own (`order_certificate`). Its import
  takes 0.2 s and 8 MB, most of it `requests`, so only an order imports it.
- HTTP-01 alone: it needs port 80, which redirects browsers anyway. Wildcards and DNS-01 need the password of somebody's
  DNS provider; who wants them uses `files`.
"""

from esign.https.https_certificate import HttpsCertificate, HttpsProblem, UnfitCertificate
from esign.https.https_certificates import HttpsCertificates, HttpsState

__all__ = ["HttpsCertificate", "HttpsCertificates", "HttpsProblem", "HttpsState", "UnfitCertificate"]

"""The process that holds the private key of the seal, and the server's side of it.

Decisions:

- PDF workers read files of strangers and never see the key. A worker that draws a seal asks the server for a signature,
  the server asks this process, and answers. A worker has no other way to it, and can ask only during a job that seals,
  once, for signatures by the certificate that the server chose.
- It is given digests, not messages: it builds the signed attributes itself, so that nothing but a seal of a file can be
  signed with the key.
- It starts two seconds after the server, or with the first seal, and stays, for 13 MB of memory: a key file that breaks
  while the server runs stops no seal. When it ended after a minute without one, such a file did. Its key comes from
  the server, which reads it from its file each time the process starts and forgets it. That it read the file itself
  was left out: passphrases, uploaded bundles, renewals and the checks of all of them are in `esign.authority`, and
  hostile bundles would be parsed beside the key.
- It imports no dataclasses, no JSON and no X.509, reads messages of a fixed form, and opens no file at all.
"""

"""E-mail: what is sent to whom (`outgoing_mail`), what its letter says (`letters`, `endings`, `notices`), how that
looks (`sheet`, `words`), the message (`message`), sending it (`smtp`).

- A letter is written once as a sheet of words and drawn twice, as HTML and as text, so the two cannot drift
  apart. One template serves all letters: they differ in words, not in layout.
- Phrases are in `words/<language>.json`; a new language is a new file there.
- Titles, names and messages are data: escaped in HTML, one line each in the text, without control characters.
- Times are given with their zone, because the reader's may be another.
- The caches hold files of the package, which do not change while the program runs.
- Names and subjects are encoded here (`header`) and not by the standard library, which parses a header again
  before it writes it: a title that looks like an encoded word would be decoded, a backslash in a name lost.
- What can never be sent (a control character in a header, an impossible address) is a PermanentFailure, as if
  the mail server had refused it.
- Connections are kept for 20 seconds and carry one mail at a time (`pool`): otherwise each of 10,000 waiting
  mails would need a handshake. A mail whose kept connection has been closed meanwhile goes over a new one at
  once.
- An error before the server was given the recipient is about the server (RelayFailure) and not about the mail.
"""

"""The manual: the Markdown of `docs/` as pages at /docs, for everybody who can reach the server.

Decisions:
- The source is `docs/` of the repository, where code hosts show the same files. The wheel holds a copy of it as
  `esign/docs` (`pyproject.toml`); a checkout reads `docs/` itself. A change shows after a restart.
- Markdown becomes HTML at the first request of a page and is kept by the process: 40 pages take some 300 ms in all.
- `contents` is the only list of the pages. `docs/dev` is for developers and is not in it.
- The texts are in English; the frame around them is in the reader's language.
- The search reads an index in memory. It needs no script and no other service.
- Links between the files work in both places: `mail.md#spf` leads to `/docs/mail#spf`. A link to a file that is not
  served, such as one of the source, is shown as its text.
"""

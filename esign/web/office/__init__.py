"""The pages on which the people of an organisation work, and the doors to them.

Decisions:
- Pages are made on the server and work without a script: forms, links, `<details>`. The script adds comfort alone.
- One table (`routes`): each line says what a person must be allowed (`Act`), whether their password must have been
  given a moment ago, and which page shows a form again. `door` enforces it, so that no handler can forget to.
- A form counts only with the mac of its session, and only from a page of ours (docs/dev/security.md 1). The mac is
  another one on every page, so that nothing can be told from the length of a packed answer.
- `Referrer-Policy` is `same-origin` here, not `no-referrer`: browsers hide even from us where a form came from.
- A sent form is answered with an address to go on to, or with the same page and a sentence at each field. What was
  typed stays, secrets excepted. Where the password is asked for again, the form waits inside the page that asks.
- Whoever has a second factor gives a code for every sensitive act, once in ten minutes. The code of the sign-in does
  not count, since a browser may be left open or its cookie stolen a moment later. What would get rid of the factor
  itself (turning it off, new recovery codes, a new password) takes a code each time. Signing out other browsers takes
  none: it only takes access away, and must be quick when one is lost.
- The cookie of a session is a new one whenever the session gains something; its id, and so the forms that other tabs
  hold, stays.
- Signing out clears what this origin keeps, but not with `Clear-Site-Data: "cookies"`: that would sign people out of
  everything else below the same domain.
- English sentences stand in the templates: these pages have one language, unlike those of signers.
"""

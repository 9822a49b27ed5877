"""The office: the web pages on which the members of an organisation work, and the rules for opening each of them.

Decisions:
- Pages are rendered on the server and work without JavaScript: forms, links, `<details>`. Scripts only add comfort.
- One table (`routes`) lists every page with the permission it needs (`Act`), whether the password must have been
  confirmed recently, and which page shows the form again after an error. `frame.dispatch` enforces the table, so
  that no handler can forget a check.
- A form is accepted only with a CSRF token of the same session, and only from a page of the same origin. The token
  differs on every page, so that the length of a compressed response reveals nothing about it (BREACH).
- `Referrer-Policy` is `same-origin`, not `no-referrer`: with the latter, browsers send `Origin: null` with a form.
- A valid form is answered with a redirect. An invalid one is answered with the same page and a sentence at each
  wrong field; what the user typed stays, except secrets. When the password is asked for again, the form is carried
  inside the page that asks for it.
- A user with a second factor gives a code for every sensitive act, once in ten minutes. The code of the sign-in does
  not count, because a browser may be left open or its cookie stolen later. Acts that would remove the factor itself
  (turning it off, new recovery codes, a new password) need a code each time. Signing out other browsers needs none:
  it only takes access away, and must be quick when a device is lost.
- The session gets a new cookie whenever it gains a right. Its id stays, so that forms in other tabs remain valid.
- Signing out clears the cache and storage of this origin, but not with `Clear-Site-Data: "cookies"`: that would sign
  the user out of every other site below the same domain.
- Every sentence is asked for by its key (`frame.words`). The catalogues stand in `words`, one for each language and
  area.
"""

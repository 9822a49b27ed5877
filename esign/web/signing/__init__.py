"""What a recipient sees behind a signing link, and what the page's script asks for.

Decisions: the link itself answers 200 always and changes nothing, whoever opens it; only the script's POSTs
act, and only one of them has a code sent. Routes are made over ports (`routes.Port`, `routes.Proving`) with the
functions of the modules `signing` and `proving` of `actions.signing`, so tests give one of their own. What a
page shows is worked out here in plain values (`page`, `states`, `steps`, `codes`) and only written down by the
templates; every sentence comes from `words/<language>.json`. The script is native modules, in `web/static`,
without a build step; they read their sentences from the page. The session of a browser that has shown a code is
a cookie (`cookies`).
"""

from esign.web.signing.routes import routes

__all__ = ["routes"]

"""What a recipient sees behind a signing link, and what the page's script asks for.

Decisions: the link itself answers 200 always and changes nothing, whoever opens it; only the script's POSTs
act. Routes are made over a port (`routes.Port`) with the functions of `actions.signing`, so tests give one of
their own. What a page shows is worked out here in plain values (`page`, `states`, `steps`) and only written
down by the templates; every sentence comes from `words/<language>.json`. The script is native modules, in
`web/static`, without a build step; they read their sentences from the page.
"""

from esign.web.signing.routes import routes

__all__ = ["routes"]

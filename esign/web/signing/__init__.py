"""The pages behind a signing link, and the requests of their scripts.

Opening a link always answers 200 and changes nothing. Only the POSTs of the script have effects, and only one
of them sends a code.

Routes depend on protocols instead of on `actions.signing`, so tests can pass functions of their own. The values
of a page are computed here (`page`, `states`, `steps`, `codes`); the templates only write them. Every
sentence comes from `words/<language>.json`.

The scripts are native modules in `web/static`, without a build step. They read their sentences from the page. A
browser that has entered a code keeps its session in a cookie (`cookies`).
"""

from esign.web.signing.routes import routes

__all__ = ["routes"]

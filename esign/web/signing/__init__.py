"""The pages behind a signing link, and the requests of their scripts.

Opening a link always answers 200 and changes nothing. Only the POSTs of the script have effects, and only one
of them sends a code.

The values of a page are computed here (`page`, `states`, `field_steps`, `codes`); the templates only write them.
Every sentence comes from `words/<language>.json`.

The scripts are native modules in `web/static`, without a build step. They read their sentences from the page. A
browser that has entered a code keeps its session in a cookie (`cookies`).
"""

from starlette.routing import Route

from esign.web.pages import Pages
from esign.web.signing import handoff, reading, renewal, routes, typed_signature
from esign.web.signing.words import WordLibrary


def make_routes(pages: Pages, library: WordLibrary) -> list[Route]:
    """Return the routes of everything behind a signing link, with the sentences of this library."""
    return [
        *routes.make_routes(pages, library),
        *reading.make_routes(),
        *typed_signature.make_routes(),
        *handoff.make_routes(pages, library),
        *renewal.make_routes(),
    ]

"""Another application at an origin of its own, whose pages embed signing pages."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Pages = dict[str, str]
DOCTYPE = "<!doctype html>"  # of every page; an icon behind it keeps the browser from asking for one


@contextmanager
def another_site(pages: Pages, host: str = "localhost") -> Iterator[str]:
    """Its origin while it runs; `pages` by their paths may be put in later. It counts as another site than 127.0.0.1.

    At `/cookie` it says which cookies came with the request and sets one as any site may.
    """

    class EmbedderHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/cookie":
                page = f"{DOCTYPE}<title>Cookie</title><p>{self.headers.get('cookie') or 'none'}</p>"
            else:
                page = pages.get(self.path, "")
            self.send_response(200 if page else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            if self.path == "/cookie":
                self.send_header("Set-Cookie", "common=1; Path=/; Secure; SameSite=None")
            self.end_headers()
            self.wfile.write(page.replace(DOCTYPE, f'{DOCTYPE}<link rel="icon" href="data:,">').encode())

        def log_message(self, format: str, *args: object) -> None:
            """Tests read what pages do, not who asked for them."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), EmbedderHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

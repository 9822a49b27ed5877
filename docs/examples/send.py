"""Send a PDF for signature, be told when it is completed, and fetch it sealed. Python 3.11, no package.

ESIGN_KEY=esk_live_… python3 docs/examples/send.py contract.pdf "Ada Example" ada@example.com
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

ESIGN = os.environ.get("ESIGN_URL", "http://127.0.0.1:8080")
KEY = os.environ["ESIGN_KEY"]
PORT = int(os.environ.get("PORT", "9000"))


def call(method, path, body=None, **headers):
    """The bytes of the answer; anything but a success raises HTTPError."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers |= {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{ESIGN}/api/v1{path}", data, headers, method=method), timeout=30) as answer:
        return answer.read()


def authentic(secret, headers, body):
    """Whether esign has sent this body, within the last five minutes."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    fresh = abs(time.time() - int(headers["webhook-timestamp"])) <= 300
    given = headers["webhook-signature"].split(" ")
    return fresh and any(hmac.compare_digest(one, f"v1,{expected}") for one in given)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        genuine = authentic(self.server.secret, self.headers, body)
        self.send_response(204 if genuine else 400)
        self.end_headers()
        if genuine:
            self.server.completed.add(json.loads(body)["data"]["document"]["id"])


file, name, email = sys.argv[1:]
server = HTTPServer(("127.0.0.1", PORT), Receiver)
webhook = {"url": f"http://127.0.0.1:{PORT}/", "events": ["document.completed"]}
webhook = json.loads(call("POST", "/webhooks", webhook))
server.secret, server.completed = webhook["secret"], set()

order = {
    "fileName": Path(file).name,
    "file": base64.b64encode(Path(file).read_bytes()).decode(),
    "recipients": [
        {"name": name, "email": email, "fields": [{"type": "signature", "page": 1, "x": 12, "y": 80}]}
    ],
}
# The same key with the same request never makes a second document.
document = json.loads(call("POST", "/documents", order, Idempotency_Key=f"example-{time.time_ns()}"))
document = json.loads(call("POST", f"/documents/{document['id']}/send"))
print(f"{document['id']} is {document['status']}: {email} was asked to sign.", flush=True)

while document["id"] not in server.completed:
    server.handle_request()
document = json.loads(call("GET", f"/documents/{document['id']}"))
Path("sealed.pdf").write_bytes(
    call("GET", f"/documents/{document['id']}/files/sealed", Accept="application/pdf")
)
print(f"{document['id']} is {document['status']}: see sealed.pdf.")
call("DELETE", f"/webhooks/{webhook['id']}")

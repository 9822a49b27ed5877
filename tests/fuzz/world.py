"""A served installation with something of everything, and requests made to reach it: real ids, PDFs and addresses."""

import re
import time
from collections import defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import Any

import requests

from esign.web.api.endpoint_table import describe
from esign.web.api.examples import PDF
from tests.journeys.program import esign

V1 = "/api/v1"
SENSIBLE = 0.6  # of the bodies: the example of the operation with some of its members replaced
REACHED = 0.9  # of the ids that a request names
THROWAWAYS = 5
SEGMENTS = {
    "documents": "doc",
    "templates": "tpl",
    "webhooks": "wh",
    "members": "mem",
    "api-keys": "key",
    "events": "evt",
    "deliveries": "dlv",
}
BELOW = {"recipients", "deliveries"}
MEANT = {
    "sendDocument": "draft",
    "changeDocument": "draft",
    "addRecipient": "draft",
    "changeRecipient": "draft",
    "removeRecipient": "draft",
    "deleteDocument": "draft",
    "cancelDocument": "sent",
    "remindRecipients": "sent",
    "issueLink": "sent",
    "getFile": "completed",
}
# Members of bodies that name something, by the prefix of its id.
NAMED = {"fromDocumentId": "doc", "recipientIds": "rcp", "recipientId": "rcp"}
# A name that no font can draw would keep every document from being sent, as it should.
PLAIN = {
    "organisationName": "Fernhill",
    "replyTo": None,
    "retainCompletedDays": None,
    "deleteClosedAfterDays": None,
}
NOWHERE = "http://localhost:9999/hook"


@dataclass
class Side:
    """One key and what it can see: ids by prefix, and pairs of an id with one below it."""

    key: str
    ids: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    below: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    states: dict[str, str] = field(default_factory=dict)
    own: str = ""  # the id of the key itself, which must go on living

    def remember(self, body: Any, path: str) -> None:
        """Every id of an answer, so that later requests may name it."""
        if isinstance(body, dict):
            found = body.get("id")
            if isinstance(found, str) and (prefix := found.partition("_")[0]) in (*SEGMENTS.values(), "rcp"):
                self.add(prefix, found)
                self.states[found] = str(body.get("status"))
                for recipient in body.get("recipients", ()):
                    self.below[found].append(recipient["id"])
            for entry in body.get("data", ()) if isinstance(body.get("data"), list) else ():
                if path.endswith("/deliveries") and isinstance(entry, dict):
                    self.below[entry["webhookId"]].append(entry["id"])
                self.remember(entry, "")

    def add(self, prefix: str, found: str) -> None:
        known = self.ids[prefix]
        if found not in known and found != self.own:
            known.append(found)
        if len(known) > 60:
            del known[0]

    def forget(self, gone: str) -> None:
        for known in self.ids.values():
            if gone in known:
                known.remove(gone)


class FuzzWorld:
    """Two keys, one of each mode, at a running server."""

    def __init__(self, base: str, config: Any) -> None:
        self.base = base
        self.session = requests.Session()
        self._config = config
        self.sides = [Side(self.new_key()), Side(self.new_key("--test"))]
        self.new_key()
        self.new_key()
        self.throwaways = [self.new_key("--test") for _ in range(THROWAWAYS)]

    def new_key(self, *how: str) -> str:
        """Made by the command line beside the running server."""
        return esign("keys", "create", "--name", "fuzz", *how, "--config", self._config).out.strip()

    def ask(self, side: Side, method: str, path: str, body: Any = None) -> Any:
        """A request that prepares something; what it answers is remembered."""
        headers = {"Authorization": f"Bearer {side.key}"}
        answer = self.session.request(
            method, f"{self.base}{V1}{path}", json=body, headers=headers, timeout=30
        )
        assert answer.status_code < 300, answer.text
        side.remember(answer.json(), path)
        return answer.json()

    def seed(self) -> None:
        """Something of everything, in each mode; one document is completed and one declined."""
        for side in self.sides:
            side.own = self.ask(side, "GET", "/account")["key"]["id"]
            for _ in range(3):
                self.refresh(side)
            completed = self.end(side, "complete")
            self.end(side, "decline")
            self.wait_for(side, completed)
        for path in ("/api-keys", "/members"):
            self.ask(self.live, "GET", path)

    @property
    def live(self) -> Side:
        """The only side that may administer: a test key never has `account:admin`."""
        return self.sides[0]

    def refresh(self, side: Side) -> None:
        """A new draft, a document that is out, a template, a member and a webhook."""
        self.ask(self.live, "PATCH", "/settings", PLAIN)
        signers = [{"name": "Ada", "email": "ada@example.test"}, {"name": "Ben", "email": "ben@example.test"}]
        request = {"fileName": "a.pdf", "file": PDF, "recipients": signers}
        draft = self.ask(side, "POST", "/documents", request)["id"]
        out = self.ask(side, "POST", "/documents", {**request, "send": True})["id"]
        for document in (draft, out):
            self.ask(side, "GET", f"/documents/{document}")
        self.ask(side, "POST", "/templates", {"fromDocumentId": draft})
        member = {"name": "M", "email": f"{draft}@example.test", "role": "member"}
        self.ask(self.live, "POST", "/members", member)
        webhook = {"url": NOWHERE, "events": ["document.cancelled"]}
        hook = self.ask(side, "POST", "/webhooks", webhook)["id"]
        if self.has("/webhooks/{id}/test"):
            self.ask(side, "POST", f"/webhooks/{hook}/test")
            self.ask(side, "GET", f"/webhooks/{hook}/deliveries")
        if self.has("/events"):
            self.ask(side, "GET", "/events?limit=20")

    def has(self, path: str) -> bool:
        return f"{V1}{path}" in describe()["paths"]

    def wait_for(self, side: Side, document: str) -> None:
        """Until it is sealed."""
        for _ in range(300):
            if self.ask(side, "GET", f"/documents/{document}")["status"] == "completed":
                return
            time.sleep(0.1)
        raise AssertionError("the document was not sealed")

    def end(self, side: Side, act: str) -> str:
        """Ada finishes or declines over her link, as her browser would; the id of the document."""
        signer = [{"name": "Ada", "email": "ada@example.test"}]
        made = self.ask(
            side, "POST", "/documents", {"fileName": "a.pdf", "file": PDF, "recipients": signer, "send": True}
        )
        recipient = self.ask(side, "GET", f"/documents/{made['id']}")["recipients"][0]["id"]
        link = self.ask(side, "POST", f"/documents/{made['id']}/recipients/{recipient}/link")["url"]
        page = self.session.get(link, timeout=30).text
        consent = re.search(r'data-consent="([0-9a-f]{64})"', page)
        assert consent is not None
        typed = {"kind": "typed", "text": "Ada", "hand": "a"}
        answers: dict[str, Any] = {"answers": {"signature": typed}, "consent": consent[1]}
        self.session.post(f"{link}/view", json={}, timeout=30)
        how: Any = answers if act == "complete" else {"reason": None}
        ended = self.session.post(f"{link}/{act}", json=how, timeout=30)
        assert ended.status_code == 200, ended.text
        return str(made["id"])

    def key_for(self, side: Side, operation: str) -> str:
        """A key of its own where the request ends the key that it is made with."""
        if operation != "revokeCurrentApiKey":
            return side.key
        return self.throwaways.pop() if len(self.throwaways) > 1 else self.throwaways[0]

    def reach(self, side: Side, case: Any, random: Random) -> None:
        """Put real things where a request only guessed."""
        operation = case.operation.definition.raw
        for name in dict(case.path_parameters or {}):
            if (known := self.list_known(side, case, name, random)) and random.random() < REACHED:
                case.path_parameters[name] = random.choice(known)
        if "Idempotency-Key" in case.headers and random.random() < REACHED:
            case.headers["Idempotency-Key"] = f"{random.getrandbits(64):x}"
        if "If-Match" in case.headers and random.random() < SENSIBLE:
            case.headers["If-Match"] = "*"
        if isinstance(case.body, dict):
            if random.random() < SENSIBLE:
                kept = {name: value for name, value in case.body.items() if random.random() < SENSIBLE / 2}
                case.body = {**find_example(operation), **kept}
            case.body = self.fill_value(side, case.body, random)

    def list_known(self, side: Side, case: Any, name: str, random: Random) -> list[str]:
        """What may stand in the path: with what belongs below it, and mostly in the state the operation is for."""
        segments = case.operation.path.split("/")
        noun = segments[segments.index(f"{{{name}}}") - 1]
        if noun in BELOW:
            return side.below[case.path_parameters["id"]]
        known = side.ids[SEGMENTS.get(noun, "")]
        if BELOW & set(segments):
            return [one for one in known if side.below[one]]
        wanted = MEANT.get(case.operation.definition.raw["operationId"])
        fit = [one for one in known if side.states.get(one) == wanted]
        return fit if fit and random.random() < SENSIBLE else known

    def learn(self, side: Side, case: Any, status: int, body: Any) -> None:
        """What an answer says of what there is now."""
        if status < 300:
            side.remember(body, case.operation.path)
        elif status == 404:
            for name in case.path_parameters or {}:
                side.forget(case.path_parameters[name])

    def fill_value(self, side: Side, value: Any, random: Random) -> Any:
        if isinstance(value, list):
            return [self.fill_value(side, entry, random) for entry in value]
        if not isinstance(value, dict):
            return value
        made = {name: self.fill_value(side, entry, random) for name, entry in value.items()}
        if random.random() > REACHED:
            return made
        if isinstance(made.get("file"), str):
            made["file"] = PDF
        if "url" in made:
            made["url"] = NOWHERE
        for name, prefix in NAMED.items():
            if isinstance(made.get(name), str | list) and side.ids[prefix]:
                one = random.choice(side.ids[prefix])
                made[name] = [one] if isinstance(made[name], list) else one
        if {"page", "x", "y"} <= made.keys():
            made |= {"page": 1, "x": random.randrange(50), "y": random.randrange(50)}
            made.pop("width", None)
            made.pop("height", None)
        return made


def find_example(operation: Any) -> Any:
    """The example of the body."""
    content = operation["requestBody"]["content"]["application/json"]
    return content["example"] if "example" in content else next(iter(content["examples"].values()))["value"]

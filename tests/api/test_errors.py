"""The shape of every refusal (contract 6, I4) and what an unknown path or method gets."""

import json

import pytest

from esign.core.errors import CATALOGUE
from esign.web.api.endpoint_table import ENDPOINTS
from tests.api.site import V1, Site, a_request
from tests.web.wire import ask

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_error_has_a_code_a_message_and_the_id_of_its_request(site: Site) -> None:
    answer = await site.ask("GET", "/documents/doc_x")
    assert answer.status == 404 and answer.headers["content-type"] == "application/json"
    assert answer.body == {
        "error": {
            "code": "not_found",
            "message": answer.body["error"]["message"],
            "requestId": answer.headers["x-request-id"],
        }
    }


async def test_details_have_a_path_a_message_and_a_rule(site: Site) -> None:
    answer = await site.ask("POST", "/documents", a_request(title=5))
    assert answer.body["error"]["details"] == [{"path": "/title", "message": "A string.", "rule": "type"}]


async def test_the_api_s_own_codes_use_only_the_statuses_of_the_contract() -> None:
    assert {status for status, _ in CATALOGUE.values()} == {400, 401, 404, 409, 429, 500, 503}
    assert {endpoint.success for endpoint in ENDPOINTS} == {200, 201}


@pytest.mark.parametrize(
    "path", ["", "/", "/documents/", "/Documents", "/documents/x/", "/nothing", "/documents/x/send/"]
)
async def test_an_unknown_path_is_not_found_without_redirect(site: Site, path: str) -> None:
    seen = await ask(site.port, "GET", f"{V1}{path}", None, f"Authorization: Bearer {site.key}")
    assert seen.status == 404 and seen.code == "not_found"
    assert "location" not in seen.headers and "allow" not in seen.headers


@pytest.mark.parametrize(
    "method, path, allow",
    [
        ("DELETE", "/documents", "GET, HEAD, POST"),
        ("POST", "/documents/x", "DELETE, GET, HEAD, PATCH"),
        ("PUT", "/documents/x", "DELETE, GET, HEAD, PATCH"),
        ("GET", "/documents/x/send", "POST"),
        ("HEAD", "/documents/x/cancel", "POST"),
        ("OPTIONS", "/webhooks/x", "DELETE, GET, HEAD, PATCH"),
        ("POST", "/openapi.json", "GET, HEAD"),
    ],
)
async def test_an_unknown_method_is_not_found_with_those_that_exist(
    site: Site, method: str, path: str, allow: str
) -> None:
    seen = await ask(site.port, method, f"{V1}{path}", None, f"Authorization: Bearer {site.key}")
    assert seen.status == 404 and seen.headers["allow"] == allow
    if method != "HEAD":
        assert seen.code == "not_found"
        assert seen.json["error"]["message"] == f"This address does not take {method}. It takes: {allow}."


@pytest.mark.parametrize(
    "path, sentence",
    [
        ("/documents/x", "There is no document with this id."),
        ("/templates/x", "There is no template with this id."),
        ("/webhooks/x", "There is no webhook with this id."),
        ("/events/x", "There is no event with this id."),
        ("/api-keys/x", "There is no API key with this id."),
        ("/nothing", "Nothing was found at this address. Check the path and the id."),
    ],
)
async def test_what_is_unknown_is_named(site: Site, path: str, sentence: str) -> None:
    seen = await ask(site.port, "GET", f"{V1}{path}", None, f"Authorization: Bearer {site.key}")
    assert (seen.status, seen.json["error"]["message"]) == (404, sentence)


async def test_a_file_that_documents_do_not_have_is_named(site: Site) -> None:
    path = f"{V1}/documents/{await site.create()}/files/x"
    seen = await ask(site.port, "GET", path, None, f"Authorization: Bearer {site.key}")
    sentence = "A document has no such file. There are: original, sealed, certificate."
    assert (seen.status, seen.json["error"]["message"]) == (404, sentence)


@pytest.mark.parametrize(
    "document_id",
    ["doc_00000000000000000000000000", "x", "doc_'--", "a" * 500, "%F0%9F%92%A9", "..%2f"],
)
async def test_any_other_id_is_not_found(site: Site, document_id: str) -> None:
    for method, rest in (("GET", ""), ("POST", "/send"), ("GET", "/audit"), ("GET", "/files/original")):
        answer = await site.ask(method, f"/documents/{document_id}{rest}")
        assert answer.code == "not_found"


MEDIA = {
    "application/json": "201",
    "Application/JSON; Charset=UTF-8": "201",
    'application/json;charset="utf-8"': "201",
    "application/json; charset=latin-1": "unsupported_media_type",
    "text/plain": "unsupported_media_type",
    "application/x-www-form-urlencoded": "unsupported_media_type",
    "multipart/form-data; boundary=x": "unsupported_media_type",
    "": "unsupported_media_type",
}


@pytest.mark.parametrize("media, code", MEDIA.items())
async def test_a_body_is_json_in_utf_8(site: Site, media: str, code: str) -> None:
    data = json.dumps(a_request()).encode()
    answer = await site.ask("POST", "/documents", data=data, headers={"Content-Type": media})
    assert answer.code == code


async def test_the_body_of_a_get_and_what_it_accepts_are_ignored(site: Site) -> None:
    headers = {"Content-Type": "text/plain", "Accept": "application/xml"}
    answer = await site.ask("GET", "/documents", data=b"{{{", headers=headers)
    assert answer.status == 200 and answer.headers["content-type"] == "application/json"


async def test_health_is_told_without_a_key_and_without_secrets(site: Site) -> None:
    async with site.session.get(f"{site.base}/healthz") as answer:
        assert answer.status == 200 and await answer.json() == {"status": "ok"}
    async with site.session.get(f"{site.base}/readyz") as answer:
        assert answer.status == 200
        parts = ("database", "storage", "signer", "mailer", "queue", "loops")
        assert await answer.json() == {"status": "ok", "checks": dict.fromkeys(parts, "ok")}

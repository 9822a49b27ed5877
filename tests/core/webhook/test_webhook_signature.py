import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from esign.core.webhook.webhook_signature import make_headers, sign
from esign.system.clock import SystemClock

KNOWN = (
    (
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ),
    (
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "evt_01kzt0v8q3e5m7p9r1s3t5v7w9",
        1795219200,
        b'{"type":"webhook.test","timestamp":"2026-11-21T00:00:00.000Z","data":{"message":"ping"}}',
        "v1,kdabQavh8LsLZObHtP9DJ76PgXmEJTUGV26OW7Td9QA=",
    ),
)
OLD, NEW = KNOWN[0][0], KNOWN[1][0]


@pytest.mark.parametrize(("secret", "message_id", "timestamp", "body", "expected"), KNOWN)
def test_the_known_answers_of_the_contract_come_out(
    secret: str, message_id: str, timestamp: int, body: bytes, expected: str
) -> None:
    assert sign(secret, message_id, timestamp, body) == expected


def test_a_standard_webhooks_receiver_accepts_the_headers_with_either_live_secret() -> None:
    body = '{"title":"Vertrag für 例え 😀"}'.encode()
    now = SystemClock().now() // 1000
    sent = dict(make_headers([NEW, OLD], "evt_1", now, body))

    assert Webhook(NEW).verify(body, sent) == {"title": "Vertrag für 例え 😀"}
    assert Webhook(OLD).verify(body, sent)


def test_the_newest_secret_signs_first() -> None:
    first, second = make_headers([NEW, OLD], "evt_1", 5, b"{}")["webhook-signature"].split(" ")

    assert first == sign(NEW, "evt_1", 5, b"{}")
    assert second == sign(OLD, "evt_1", 5, b"{}")


def test_a_receiver_refuses_another_body() -> None:
    now = SystemClock().now() // 1000
    sent = dict(make_headers([NEW], "evt_1", now, b'{"a":1}'))

    with pytest.raises(WebhookVerificationError):
        Webhook(NEW).verify(b'{"a":2}', sent)


def test_the_headers_are_exactly_those_of_the_contract() -> None:
    sent = make_headers([NEW], "evt_1", 1795219200, b"{}")

    assert set(sent) == {"Content-Type", "User-Agent", "webhook-id", "webhook-timestamp", "webhook-signature"}
    assert (sent["Content-Type"], sent["User-Agent"]) == ("application/json", "esign-webhooks/1")
    assert sent["webhook-timestamp"] == "1795219200"


@pytest.mark.parametrize("secret", ["", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_not base64!", "whsec_abc"])
def test_a_misshaped_secret_never_signs(secret: str) -> None:
    with pytest.raises(ValueError, match="webhook secret"):
        sign(secret, "evt_1", 1, b"{}")

"""HTTPS on the page of the address, and above every page while a person should look at it."""

from pathlib import Path
from typing import Any

from esign.core.people.member import MemberRole
from tests.fakes import FakeClock
from tests.https.pairs import WebPair, make_authority, make_pair
from tests.pki import NOW
from tests.ports import reserve_port
from tests.web.office.visitor import Office, an_office

HERE = "/server/address"
HOST = "sign.example.com"


def write_pair(folder: Path) -> WebPair:
    """Files of a certificate that is valid at the time of the tests."""
    from datetime import timedelta

    from esign.core.instant import to_datetime

    begins = to_datetime(NOW) - timedelta(days=10)
    pair = make_pair(HOST, issuer=make_authority(), begins=begins, ends=begins + timedelta(days=90))
    (folder / "site.pem").write_bytes(pair.chain)
    (folder / "site.key").write_bytes(pair.key)
    return pair


def use_files(folder: Path) -> dict[str, Any]:
    return {
        "https": "files",
        "base_url": f"https://{HOST}",
        "https_certificate": folder / "site.pem",
        "https_key": folder / "site.key",
    }


def order_from_nobody() -> dict[str, Any]:
    """An authority that cannot be reached."""
    directory = f"http://127.0.0.1:{reserve_port()}/dir"
    return {"https": "auto", "base_url": f"https://{HOST}", "acme_directory": directory}


async def refresh(office: Office) -> None:
    """Two ticks."""
    assert office.runtime.https is not None
    for _ in range(2):
        await office.runtime.https.refresh(office.runtime.clock.now())


async def test_the_page_shows_the_certificate_and_what_is_wrong_with_new_files(tmp_path: Path) -> None:
    write_pair(tmp_path)
    async with an_office(tmp_path / "data", server=use_files(tmp_path)) as office:
        ada, bo = await office.signed_in("Ada"), await office.signed_in("Bo", MemberRole.MEMBER)
        page = await ada.get(HERE)
        assert HOST in page.said and "Issued by Test Web Root" in page.said
        assert "There’s a problem with HTTPS" not in (await ada.get("/documents")).said
        (tmp_path / "site.pem").write_bytes(b"nothing")
        await refresh(office)
        page = await ada.get(HERE)
        assert f"{tmp_path}/site.pem holds no certificate in PEM" in page.said
        assert "Issued by Test Web Root" in page.said, "the old one stays in use"
        page = await ada.get("/documents")
        assert "There’s a problem with HTTPS" in page.said and f'href="{HERE}#https"' in page.text
        assert "There’s a problem with HTTPS" not in (await bo.get("/documents")).said


async def test_an_order_that_fails_is_told_with_the_time_of_the_next_in_the_language_of_the_reader(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with an_office(tmp_path / "data", clock=clock, server=order_from_nobody()) as office:
        ada = await office.signed_in("Ada")
        assert "esign is getting a certificate." in (await ada.get(HERE)).said
        await refresh(office)
        page = await ada.get(HERE)
        assert "The authority at 127.0.0.1 can’t be reached. Check the network of this server." in page.said
        assert "Next try" in page.said and "Details: Connection refused" in page.said
        assert "There’s a problem with HTTPS" in (await ada.get("/documents")).said
        await ada.post("/language", locale="de", next=HERE)
        page = await ada.get(HERE)
        assert "Die Zertifizierungsstelle 127.0.0.1 ist nicht erreichbar." in page.said


async def test_somebody_who_mended_the_cause_does_not_wait_for_the_planned_order(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with an_office(tmp_path / "data", clock=clock, server=order_from_nobody()) as office:
        ada, https = await office.signed_in("Ada"), office.runtime.https
        assert https is not None
        await refresh(office)
        clock.advance(minutes=1)
        await refresh(office)
        failed = https.read_state()
        assert "Try again" not in (await ada.get(HERE)).said, "an order failed just now"
        assert (await ada.post(f"{HERE}/https")).to == f"{HERE}#https"
        assert https.read_state() == failed
        clock.advance(minutes=1)
        await refresh(office)
        assert https.read_state() == failed, "the next order is planned for later"
        assert "Try again" in (await ada.get(HERE)).said
        await ada.post(f"{HERE}/https")
        page = await ada.get(HERE)
        assert "esign is getting a certificate." in page.said and "Try again" not in page.said
        await refresh(office)
        assert https.read_state().last_at == clock.now()
        assert "Next try" in (await ada.get(HERE)).said


async def test_a_proxy_that_the_settings_do_not_name_is_told(tmp_path: Path) -> None:
    async with an_office(tmp_path / "data") as office:
        ada = await office.signed_in("Ada")
        assert "isn’t trusted" not in (await ada.get(HERE)).said
        await ada.get(HERE, headers={"X-Forwarded-For": "192.0.2.7"})
        assert "The proxy at 127.0.0.1 isn’t trusted" in (await ada.get(HERE)).said
    server = {"trusted_proxies": ["127.0.0.1"]}
    async with an_office(tmp_path / "trusting", server=server) as office:
        ada = await office.signed_in("Ada")
        await ada.get(HERE, headers={"X-Forwarded-For": "192.0.2.7"})
        assert "isn’t trusted" not in (await ada.get(HERE)).said


async def test_a_server_behind_a_proxy_shows_nothing_of_it(tmp_path: Path) -> None:
    async with an_office(tmp_path / "data") as office:
        page = await (await office.signed_in("Ada")).get(HERE)
        assert 'id="https"' not in page.text

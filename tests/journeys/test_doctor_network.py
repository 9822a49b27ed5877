"""What `esign doctor` asks over the network: the answers of real servers on this machine, and silence."""

import socket
import ssl
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from esign.actions.server.diagnosis import CheckState
from esign.actions.server.network_checks import (
    check_clock,
    check_mail,
    check_seal_certificates,
    check_time_stamps,
)
from esign.actions.server.settings_checks import check_disk, check_permissions, check_settings
from esign.config import SECRETS, Config, load_config
from esign.core.instant import DAY
from esign.net.tls_probe import probe_address
from esign.system.clock import SystemClock
from esign.system.system_lookup import SystemLookup
from tests.certificates import make_pair
from tests.fakes import FakeClock
from tests.mail.server import serving
from tests.ports import reserve_port
from tests.tsa import refusing, stamping

WRONG, WARNING, OK, NOT_CHECKED = CheckState.WRONG, CheckState.WARNING, CheckState.OK, CheckState.NOT_CHECKED


def configure(folder: Path, **tables: Any) -> Config:
    return Config.model_validate({"storage": {"data_dir": folder}, **tables})


async def test_the_mail_server_is_greeted_and_gets_no_mail(tmp_path: Path) -> None:
    mail = {"host": "127.0.0.1", "security": "none", "from": "sign@fernhill.example"}
    async with serving() as server:
        found = await check_mail(configure(tmp_path, mail={**mail, "port": server.port}))
        assert found.state is OK and server.messages == []
    refused = await check_mail(configure(tmp_path, mail={**mail, "port": reserve_port()}))
    assert refused.state is WRONG and refused.remedy is not None
    assert (await check_mail(configure(tmp_path))).state is NOT_CHECKED


async def test_each_authority_is_asked_for_a_time_stamp(tmp_path: Path, clock: FakeClock) -> None:
    async with stamping() as good, stamping(refusing) as bad:
        for urls, state in (
            ([good.url], OK),
            ([good.url, bad.url], WARNING),
            ([bad.url], WRONG),
        ):
            config = configure(tmp_path, seal={"level": "B-T", "tsa_urls": urls})
            assert (await check_time_stamps(config, clock)).state is state
    assert (await check_time_stamps(configure(tmp_path), clock)).state is NOT_CHECKED


async def test_the_clock_is_compared_with_the_date_of_configured_servers(tmp_path: Path) -> None:
    real = SystemClock()
    async with stamping() as tsa:
        config = configure(tmp_path, seal={"level": "B-T", "tsa_urls": [tsa.url]})
        assert (await check_clock(config, real, None)).state is OK
        late = FakeClock(real.now() - DAY)
        found = await check_clock(config, late, None)
        assert found.state is WRONG and "86400 s behind 127.0.0.1" in found.words
    silent = configure(tmp_path, seal={"level": "B-T", "tsa_urls": [f"http://127.0.0.1:{reserve_port()}/"]})
    assert (await check_clock(silent, real, None)).state is not WRONG


async def test_the_own_address_is_looked_up_and_its_certificate_read(tmp_path: Path) -> None:
    pair = make_pair(tmp_path)
    runner = web.AppRunner(web.Application())
    await runner.setup()
    site = web.TCPSite(runner, "localhost", 0, ssl_context=pair.server)
    await site.start()
    url = f"https://localhost:{runner.addresses[0][1]}"
    try:
        found = await probe_address(url, tls=pair.client)
        assert found.wrong is None and found.certificate_ends is not None
        strange = await probe_address(url, tls=ssl.create_default_context())
        assert strange.wrong is not None and "certificate is refused" in strange.wrong
    finally:
        await runner.cleanup()
    gone = await probe_address(f"https://localhost:{reserve_port()}", tls=pair.client)
    assert gone.wrong is None and gone.unknown is not None

    def no_address(*_: Any, **__: Any) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    unknown = await probe_address("https://sign.example.com", lookup=SystemLookup(no_address))
    assert unknown.wrong == "the name sign.example.com has no address"


def test_settings_without_effect_are_named(tmp_path: Path) -> None:
    config = configure(tmp_path, seal={"tsa_outage": "complete"}, mail={"port": 25})
    found = check_settings(config)
    assert found.state is WARNING and [line.partition(" ")[0] for line in found.findings] == [
        "seal.tsa_outage",
        "mail.port",
    ]
    assert check_settings(configure(tmp_path)).state is OK


def test_what_others_can_read_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    key = tmp_path / "app.key"
    key.write_bytes(bytes(32))
    key.chmod(0o600)
    assert check_permissions(configure(tmp_path)).state is OK
    key.chmod(0o644)
    found = check_permissions(configure(tmp_path))
    assert found.state is WRONG and "app.key has mode 0644" in found.findings[0]
    full = configure(tmp_path, storage={"data_dir": tmp_path, "spare_mib": 1_000_000})
    assert check_disk(full).state is WRONG


@pytest.mark.parametrize("key", sorted(SECRETS))
def test_a_configuration_file_with_a_secret_is_for_its_user_alone(tmp_path: Path, key: str) -> None:
    """Each setting that the tables declare to be a secret."""
    data, file = tmp_path / "data", tmp_path / "esign.toml"
    data.mkdir(mode=0o700)
    (tmp_path / "seal.p12").touch(0o600)
    table, name = key.split(".")
    beside = {"mail": 'username = "u"\n', "seal": f'pkcs12 = "{tmp_path / "seal.p12"}"\n'}.get(table, "")
    file.write_text(f'[{table}]\n{beside}{name} = "a long passphrase of a test"\n')
    config = load_config(file, {"ESIGN_STORAGE__DATA_DIR": str(data)})
    for mode, state in ((0o600, OK), (0o644, WRONG)):
        file.chmod(mode)
        assert check_permissions(config, file).state is state
    file.write_text("")
    assert check_permissions(load_config(file, {"ESIGN_STORAGE__DATA_DIR": str(data)}), file).state is OK


def test_before_the_first_start_no_certificate_is_missed(tmp_path: Path) -> None:
    found = check_seal_certificates(configure(tmp_path), SystemClock().now())
    assert found.state is NOT_CHECKED
    (tmp_path / "seal.pem").write_text("no certificate")
    assert check_seal_certificates(configure(tmp_path), SystemClock().now()).state is WRONG

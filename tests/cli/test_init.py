"""`esign init`: what it asks, what it tries at once, and the file that it writes."""

import asyncio
import shlex
import socket
import stat
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from esign.cli import main
from esign.config import load_config
from tests.certificates import TlsPair, make_pair
from tests.journeys.program import Program, Ran, meanwhile
from tests.mail.server import PASSWORD, USER, authenticate, serving
from tests.ports import reserve_port

DONE, FAILED, USAGE = 0, 1, 2


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def init(*flags: str, answers: tuple[str, ...] = ()) -> Ran:
    """Run `esign init` in this process, for a person who types these lines and then goes away."""
    ran = CliRunner().invoke(main, ["init", *flags], input="".join(f"{line}\n" for line in answers))
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return Ran(ran.exit_code, ran.stdout, ran.stderr)


def written(file: Path) -> dict[str, Any]:
    """The tables of the file that hold something."""
    return {name: table for name, table in tomllib.loads(file.read_text("utf-8")).items() if table}


async def test_the_command_that_it_prints_starts_the_server(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{reserve_port()}"
    ran = await meanwhile("init", "--yes", "--address", address, "--organisation", "Ærø “GmbH”")
    assert (ran.code, ran.out) == (DONE, "esign serve\n"), ran.err
    assert not (tmp_path / "esign-data").exists(), "the data folder is for the server to make"
    program = Program(tmp_path / "esign.toml")
    await program.start()
    assert await program.stop() == DONE
    assert f"running at {address}" in program.said
    assert written(tmp_path / "esign.toml")["organisation"] == {"name": "Ærø “GmbH”"}


def test_a_person_answers_four_questions(tmp_path: Path) -> None:
    ran = init("--config", "a b.toml", answers=("sign.example.test", "proxy", "./kept", "", "Example Ltd"))
    assert ran.code == DONE, ran.err
    assert shlex.split(ran.out) == ["esign", "serve", "--config", "a b.toml"]
    assert "serves https://sign.example.test and passes requests to 127.0.0.1, port 8080" in ran.err
    file = tmp_path / "a b.toml"
    assert written(file) == {
        "server": {"host": "127.0.0.1", "port": 8080, "base_url": "https://sign.example.test"},
        "storage": {"data_dir": "./kept"},
        "organisation": {"name": "Example Ltd"},
    }
    assert load_config(file, {}).storage.data_dir == tmp_path / "kept"
    assert "# tsa_urls = []" in file.read_text("utf-8"), "every other setting stands there with its default"


def test_a_name_of_the_dns_gets_its_certificate_by_itself(tmp_path: Path) -> None:
    ran = init("--no-test", answers=("sign.example.test", "yes", "", "", "", "Example Ltd"))
    assert ran.code == DONE, ran.err
    assert "the answer is auto or proxy" in ran.err
    assert "gets a certificate for https://sign.example.test by itself" in ran.err
    assert written(tmp_path / "esign.toml")["server"] == {
        "base_url": "https://sign.example.test",
        "https": "auto",
    }
    read = load_config(tmp_path / "esign.toml", {}).server
    assert (read.https, read.port, read.http_port) == ("auto", 443, 80)


def test_a_taken_port_of_https_is_told_and_a_proxy_is_the_other_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("", 0)) as taken:
        monkeypatch.setattr(import_module("esign.cli.init"), "HTTPS_PORTS", (taken.getsockname()[1],))
        refused = init("--address", "sign.example.test", "--yes")
        assert refused.code == FAILED and "is taken by another program" in refused.err
        assert "--https proxy" in refused.err and list(tmp_path.iterdir()) == []
        ran = init(answers=("sign.example.test", "auto", "proxy", "", "", ""))
    assert ran.code == DONE and "is taken by another program" in ran.err
    assert written(tmp_path / "esign.toml")["server"]["port"] == 8080


@pytest.mark.parametrize(
    "flags",
    [
        ("--address", "https://sign.example.test", "--port", "8443"),
        ("--address", "https://sign.example.test", "--https", "proxy"),
        ("--address", "https://sign.example.test:8443"),
        ("--address", "https://192.0.2.7"),
    ],
)
def test_a_proxy_speaks_https_where_no_certificate_can_be_had_or_a_port_is_given(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    ran = init("--yes", "--no-test", *flags)
    assert ran.code == DONE and "Put a proxy in front" in ran.err
    assert "https" not in written(tmp_path / "esign.toml")["server"]


def test_an_answer_that_does_not_hold_is_asked_for_again(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken, free = listener.getsockname()[1], reserve_port()
        (tmp_path / "file").write_text("")
        typed = (
            *("http://sign.example.test", f"http://127.0.0.1:{taken}", "many", str(free)),
            *("./file", "./data", "smtp example", "", "\U00010380", "Example"),
        )
        ran = init(answers=typed)
    assert ran.code == DONE, ran.err
    for words in (
        *("must begin with https://", f"port {taken}: Address already in use", "a number from 1 to 65535"),
        *("is not a folder", "is no mail server", "no installed font can print \U00010380"),
    ):
        assert words in ran.err, words
    made = written(tmp_path / "esign.toml")
    assert made["server"] == {"host": "127.0.0.1", "port": free, "base_url": f"http://127.0.0.1:{free}"}


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (("--address", "ftp://x"), USAGE, "https://sign.example.com"),
        (("--address", "http://sign.example.test"), USAGE, "must begin with https://"),
        (("--https", "auto"), USAGE, "no certificate can be had for http://127.0.0.1"),
        (("--data-dir", "file"), USAGE, "is not a folder"),
        (("--data-dir", "/proc/none"), USAGE, "nothing can be written in /proc"),
        (("--mail-server", "no such.test"), USAGE, "is no mail server"),
        (("--mail-server", "smtp.invalid:587"), FAILED, "There is no server named smtp.invalid"),
        (("--mail-server", "localhost", "--mail-username", "ada"), USAGE, "--mail-password-file"),
        (("--mail-server", "localhost", "--mail-password-file", "file"), USAGE, "--mail-username"),
        (("--mail-server", "localhost", "--mail-password-file", "none"), USAGE, "none cannot be read"),
        (("--mail-server", "localhost", "--mail-from", "ada"), USAGE, "the sender ada cannot be used"),
        (("--organisation", "\U00010380"), USAGE, "no installed font"),
        (("--organisation", "x" * 201), USAGE, "1 to 200 characters"),
    ],
)
def test_a_flag_that_does_not_hold_ends_it_and_writes_nothing(
    tmp_path: Path, flags: tuple[str, ...], code: int, words: str
) -> None:
    (tmp_path / "file").write_text("secret\n")
    address = ("--address", f"http://127.0.0.1:{reserve_port()}")
    ran = init("--yes", *address, *flags)
    assert (ran.code, ran.out) == (code, ""), ran
    assert words in ran.err
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_port_that_is_taken_ends_it_unless_nothing_is_to_be_tried(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        ran = init("--yes", "--address", address)
        assert ran.code == FAILED and "already in use; choose another with --port" in ran.err
        assert init("--yes", "--no-test", "--address", address).code == DONE


def test_a_file_that_is_there_is_kept_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    file = tmp_path / "esign.toml"
    file.write_text("# mine\n")
    ran = init("--yes", "--no-test")
    assert ran.code == USAGE and "--force" in ran.err
    assert file.read_text() == "# mine\n"
    assert init("--yes", "--no-test", "--force").code == DONE
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert written(file)["server"]["port"] == 8080


def test_where_nobody_answers_that_is_said(tmp_path: Path) -> None:
    ran = init()
    assert ran.code == USAGE and "--yes" in ran.err
    assert not list(tmp_path.iterdir())


async def test_the_login_at_the_mail_server_is_tried(tmp_path: Path) -> None:
    flags = ("--yes", "--address", f"http://127.0.0.1:{reserve_port()}")
    (tmp_path / "right").write_text(f"{PASSWORD}\n")
    (tmp_path / "wrong").write_text("wrong\n")
    async with serving(authenticator=authenticate, auth_require_tls=False) as server:
        mail = (
            *("--mail-server", f"127.0.0.1:{server.port}", "--mail-security", "none"),
            *("--mail-username", USER, "--mail-from", "Sign <sign@example.test>", "--mail-password-file"),
        )
        refused = await asyncio.to_thread(init, *flags, *mail, "wrong")
        assert refused.code == FAILED, refused
        assert "doesn’t accept the user name or password" in refused.err and "--no-test" in refused.err
        assert not (tmp_path / "esign.toml").exists()
        taken = await asyncio.to_thread(init, *flags, *mail, "right")
        assert taken.code == DONE, taken.err
        assert server.messages == [], "no mail is sent"
    file = tmp_path / "esign.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600, "it holds the password"
    assert written(file)["mail"] == {
        "host": "127.0.0.1",
        "port": server.port,
        "security": "none",
        "username": USER,
        "password": PASSWORD,
        "from": "Sign <sign@example.test>",
    }


@pytest.fixture
def pair(tmp_path: Path) -> TlsPair:
    folder = tmp_path / "tls"
    folder.mkdir()
    return make_pair(folder)


async def test_a_mail_server_with_a_certificate_that_nobody_trusts_can_be_kept(
    tmp_path: Path, pair: TlsPair
) -> None:
    async with serving(pair.server) as server:
        answers = ("", "", f"127.0.0.1:{server.port}", "", "", "yes", "")
        ran = await asyncio.to_thread(init, "--port", str(reserve_port()), answers=answers)
    assert ran.code == DONE, ran.err
    assert "isn’t trusted" in ran.err and "Use it anyway?" in ran.err
    assert written(tmp_path / "esign.toml")["mail"]["security"] == "starttls"

"""The program as one file: how its PDF workers start, and whom it trusts on the network."""

import importlib.util
import sys
from pathlib import Path

import pytest

from esign.pdf.worker import sandbox
from esign.system import frozen
from esign.system.frozen import Child

LOADED = {
    "LD_LIBRARY_PATH": "/tmp/parts",
    "_PYI_ARCHIVE_FILE": "/usr/bin/esign",
    "SECRET": "s",
    "PATH": "/bin",
}


@pytest.fixture
def one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)


def test_an_installed_program_starts_its_children_by_module() -> None:
    for child in Child:
        *python, module = frozen.name_child_command(child)
        assert python == [sys.executable, "-I", "-m"] and importlib.util.find_spec(module) is not None
        assert frozen.find_child(["esign", child]) is None
    assert frozen.list_loader_variables(LOADED) == {}


@pytest.mark.usefixtures("one_file")
def test_the_one_file_is_each_of_its_children() -> None:
    for child in Child:
        command = frozen.name_child_command(child)
        assert command == (sys.executable, child) and frozen.find_child(command) is child
    for others in (["esign", "serve"], ["esign"], ["esign", Child.WORKER, "more"]):
        assert frozen.find_child(others) is None


def test_a_worker_of_the_one_file_may_read_its_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path / "lib"), raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "esign"))
    readable = sandbox.list_readable()
    assert {str(tmp_path / "lib"), str(tmp_path / "esign")} <= set(readable)
    assert not {"/", "/etc", "/tmp", "/home", "/root", "/var", "/proc"} & set(readable)


@pytest.mark.usefixtures("one_file")
def test_a_worker_of_the_one_file_gets_what_the_loader_set_and_nothing_else() -> None:
    assert set(frozen.list_loader_variables(LOADED)) == {"LD_LIBRARY_PATH", "_PYI_ARCHIVE_FILE"}


def test_the_authorities_of_the_system_come_before_those_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, bundled = tmp_path / "system.pem", tmp_path / "bundled.pem"
    monkeypatch.setattr(frozen, "TRUST_STORES", (str(tmp_path / "none.pem"), str(system)))
    environment: dict[str, str] = {}
    frozen.choose_trust_store(environment, bundled)
    assert environment == {"SSL_CERT_FILE": str(bundled)}
    system.touch()
    environment = {}
    frozen.choose_trust_store(environment, bundled)
    assert environment == {"SSL_CERT_FILE": str(system)}


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_an_administrator_who_names_authorities_is_followed(name: str, tmp_path: Path) -> None:
    environment = {name: "/etc/own"}
    frozen.choose_trust_store(environment, tmp_path)
    assert environment == {name: "/etc/own"}

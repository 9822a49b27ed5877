"""What the binary, the Debian package and the container are made from, as far as it can be tried without a build.

What is built is tried by `packaging/test release`.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path
from types import ModuleType

import pytest

from esign.app import LISTENER_SECONDS
from esign.cli.components import Component, list_components
from esign.config.reading import VARIABLES
from esign.mail.pool import GOODBYE
from esign.pdf.signer.seal_signer import CLOSING_SECONDS
from esign.pdf.worker.worker import TASKS
from esign.store.engine import database
from esign.store.engine.database import LOCKED_SECONDS
from esign.system.supervision import END_SECONDS
from esign.web.http.client_connection import Front
from esign.web.rest.pipeline import SETTLE_SECONDS

ROOT = Path(__file__).parents[1]
PARTS = ROOT / "packaging" / "appliance"
UNIT = (PARTS / "debian" / "esign.service").read_text()

# What brings the exposure of the unit down to 1.4, which packaging/test release measures.
HARDENING = {
    *(
        "NoNewPrivileges=yes",
        "CapabilityBoundingSet=",
        "ProtectSystem=strict",
        "ProtectHome=yes",
        "PrivateTmp=yes",
    ),
    *(
        "PrivateDevices=yes",
        "PrivateUsers=yes",
        "PrivateIPC=yes",
        "ProtectKernelTunables=yes",
        "ProtectClock=yes",
    ),
    *("ProtectKernelModules=yes", "ProtectKernelLogs=yes", "ProtectControlGroups=yes", "ProtectHostname=yes"),
    *("ProtectProc=invisible", "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX"),
    *("RestrictNamespaces=yes", "RestrictRealtime=yes", "RestrictSUIDSGID=yes", "LockPersonality=yes"),
    *("MemoryDenyWriteExecute=yes", "RemoveIPC=yes", "DevicePolicy=closed", "SystemCallArchitectures=native"),
    *("SystemCallFilter=@system-service", "SystemCallFilter=~@privileged @obsolete @mount @debug"),
    *("NoExecPaths=/", "SocketBindDeny=any", "IPAddressDeny=link-local multicast", "UMask=0077"),
    *("Type=notify", "WatchdogSec=30", "RestartPreventExitStatus=2 3 4 65", "StateDirectoryMode=0700"),
}


def load_part(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import a file of packaging/appliance, which is no package."""
    monkeypatch.syspath_prepend(str(PARTS))
    found = importlib.util.spec_from_file_location(f"appliance_{name}", PARTS / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def read_lock(name: str) -> dict[str, str]:
    """Return the locked versions by package."""
    text = (ROOT / "packaging" / name).read_text()
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==([^ ;]+)", text, re.MULTILINE))


def test_the_build_has_the_versions_that_were_tested() -> None:
    build, tested = read_lock("requirements-binary.txt"), read_lock("requirements-test.txt")
    assert {"pyinstaller", "ziglang"} <= build.keys()
    assert {name: build[name] for name in build.keys() & tested.keys()} == {
        name: tested[name] for name in build.keys() & tested.keys()
    }


def test_what_workers_import_by_name_exists() -> None:
    """The build contains every module of the package; a wrong name would only fail in a worker."""
    for place in TASKS.values():
        assert importlib.util.find_spec(place.partition(":")[0]) is not None


def test_the_source_of_sqlite_is_pinned_to_a_fixed_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build = load_part("build", monkeypatch)
    assert build.is_wal_reset_fixed(tuple(map(int, build.SQLITE_VERSION.split("."))))
    other = tmp_path / "sqlite3.c"
    other.write_text("int main;")
    monkeypatch.setenv("ESIGN_SQLITE_SOURCE", str(other))
    with pytest.raises(SystemExit, match="is not the source of SQLite"):
        build.read_sqlite_source()


def make_folder(folder: Path) -> Path:
    (folder / "lib").mkdir(parents=True)
    (folder / "esign").write_bytes(b"program")
    (folder / "esign").chmod(0o755)
    (folder / "lib" / "a.so").write_bytes(b"a" * 100_000)
    (folder / "lib" / "link.so").symlink_to("a.so")
    return folder


def test_the_one_file_holds_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    build = load_part("build", monkeypatch)
    launcher = tmp_path / "launcher"
    launcher.write_bytes(b"ELF")
    for number in (1, 2):
        build.write_one_file(launcher, make_folder(tmp_path / str(number)), tmp_path / f"one{number}")
    whole = (tmp_path / "one1").read_bytes()
    assert whole == (tmp_path / "one2").read_bytes(), "the same folder makes the same file"
    magic, offset, length, unpacked, name = build.FOOTER.unpack(whole[-build.FOOTER.size :])
    assert (magic, offset, whole[:3]) == (b"ESIGNONE", 3, b"ELF")
    assert len(whole) == offset + length + build.FOOTER.size
    assert b"\0" in name, "the launcher reads it as a text"
    payload = zlib.decompress(whole[offset : offset + length])
    assert len(payload) == unpacked
    found, at = {}, 0
    while True:
        named, mode, size = build.HEAD.unpack_from(payload, at)
        at += build.HEAD.size
        if not named:
            break
        found[payload[at : at + named].decode()] = (oct(mode), payload[at + named : at + named + size])
        at += named + size
    assert found == {
        "esign": ("0o100755", b"program"),
        "lib/a.so": ("0o100644", b"a" * 100_000),
        "lib/link.so": ("0o120777", b"a.so"),
    }


def test_the_list_of_parts_is_cyclonedx(monkeypatch: pytest.MonkeyPatch) -> None:
    build = load_part("build", monkeypatch)
    sqlite = Component("SQLite", "3.53.2", "blessing", ("text",), "pkg:generic/sqlite@3.53.2")
    made = build.write_sbom([*list_components(), sqlite])
    assert (made["bomFormat"], made["specVersion"], made["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", made["serialNumber"])
    references = [one["bom-ref"] for one in made["components"]]
    assert len(references) == len(set(references))
    assert "pkg:generic/sqlite@3.53.2" in references
    assert made["metadata"]["component"]["name"] == "esign"
    assert made["dependencies"][0]["dependsOn"] == references
    assert made == build.write_sbom([*list_components(), sqlite]), "the same parts make the same list"


def test_the_unit_stays_hardened() -> None:
    assert set(UNIT.splitlines()) >= HARDENING
    start = next(line for line in UNIT.splitlines() if line.startswith("ExecStart="))
    assert start == "ExecStart=/usr/bin/esign serve --config /etc/esign/esign.toml"


def test_the_example_of_the_settings_can_become_that_of_the_package() -> None:
    assert (
        len(re.findall(r'^# data_dir = "[^"]*" *#', (ROOT / "esign.toml.example").read_text(), re.MULTILINE))
        == 1
    )


def test_the_container_sets_what_exists_and_runs_as_a_user_without_rights() -> None:
    text = (PARTS / "container" / "Containerfile").read_text()
    compose = (PARTS / "container" / "compose.yaml").read_text()
    for name in re.findall(r"\b(ESIGN_[A-Z]+__[A-Z_]+)\b", text + compose):
        assert name in VARIABLES
    assert "USER 10001:10001" in text
    for line in ("read_only: true", "cap_drop: [ALL]", "no-new-privileges:true", "noexec"):
        assert line in compose


@pytest.mark.parametrize(
    "script",
    [
        *("binary", "deb", "container", "release"),
        *("appliance/debian/postinst", "appliance/debian/prerm", "appliance/debian/postrm"),
    ],
)
def test_the_scripts_are_what_a_plain_shell_reads(script: str) -> None:
    file = ROOT / "packaging" / script
    assert file.stat().st_mode & 0o111
    subprocess.run(["sh", "-n", file], check=True)


@pytest.mark.parametrize("script", ["deb", "container"])
def test_without_a_build_the_packages_say_what_to_run_first(script: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "packaging", tmp_path / "packaging")
    ran = subprocess.run([tmp_path / "packaging" / script], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "run packaging/binary first" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_a_release_without_its_section_in_the_changelog_is_refused(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "packaging", tmp_path / "packaging")
    (tmp_path / "esign").mkdir()
    (tmp_path / "esign" / "__init__.py").write_text('__version__ = "9.9.9"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 9.9.8\n")
    ran = subprocess.run([tmp_path / "packaging/release"], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "CHANGELOG.md has no section for 9.9.9" in ran.stderr


def test_the_extra_of_the_build_is_what_the_lock_was_made_from() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [one.partition(">")[0] for one in project["optional-dependencies"]["binary"]] == [
        "pyinstaller",
        "ziglang",
    ]
    assert sys.version_info >= (3, 11)


def test_the_steps_of_an_orderly_stop_take_less_time_than_systemd_and_docker_give() -> None:
    steps = (
        *(Front().shutdown, LISTENER_SECONDS, LISTENER_SECONDS),  # http, plain http beside https, metrics
        *(END_SECONDS, LOCKED_SECONDS),  # the background loops, and the return of what they had claimed
        *(SETTLE_SECONDS, LOCKED_SECONDS),  # effects of requests, and the counts of requests
        *(GOODBYE, CLOSING_SECONDS),  # of mail servers, and of the signer
        database.CLOSING_SECONDS,
    )
    found = re.search(r"^TimeoutStopSec=(\d+)$", UNIT, re.MULTILINE)
    compose = (PARTS / "container" / "compose.yaml").read_text()
    given = re.search(r"stop_grace_period: (\d+)s", compose)
    assert found and given
    assert sum(steps) + 10 <= min(int(found[1]), int(given[1])), (
        "the rest is not bounded: a checkpoint, the disk"
    )

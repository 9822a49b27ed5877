"""Every block of commands in docs/ runs: page by page, in order, beside a real server, in a folder of its own."""

import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.journeys.program import ALL_OK, configuration, environment, esign

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE = 300.0  # seconds

# Blocks that other tests run, by how they begin.
ELSEWHERE = {
    "packaging/demo --exit": "tests/journeys/test_demo.py",
    "esign serve": "tests/browser/test_first_hour.py",
    "ESIGN_KEY=$KEY python3 docs/examples/send.py": "tests/journeys/test_examples.py",
    "install -m 755 esign-VERSION": "packaging/appliance/check.py",
    "apt install ./esign_VERSION": "packaging/appliance/check.py",
    "podman run": "packaging/appliance/check.py",
    "openssl ts -verify": "tests/pdf/drawing/test_stamped.py",
}

NEEDS = {"upgrade": "install"}  # pages that go on from another


def blocks_of(page: Path) -> list[str]:
    """The blocks of a page that run here."""
    found = BLOCK.findall(page.read_text("utf-8"))
    return [block for block in found if not block.startswith(tuple(ELSEWHERE))]


PAGES = [page for page in sorted(DOCS.glob("*.md")) if blocks_of(page)]


@dataclass(frozen=True)
class Terminal:
    """A folder beside a running server, and what stands there for the addresses and folders of the pages.

    `key` is the API key that a page has from another; `printed` is what the pages that ran have printed.
    """

    folder: Path
    base: str
    key: str
    printed: dict[str, str] = field(default_factory=dict)

    def run(self, page: Path) -> str:
        """Run the blocks of a page as one script, once; return what it prints. Each command has to succeed."""
        if page.stem in self.printed:
            return self.printed[page.stem]
        if page.stem in NEEDS:
            self.run(DOCS / f"{NEEDS[page.stem]}.md")
        script = "\n".join(blocks_of(page))
        for documented, own in self.replacements().items():
            script = script.replace(documented, own)
        ended = subprocess.run(
            ("sh", "-eu", "-c", script),
            cwd=self.folder,
            env=environment(self.variables()),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
        self.printed[page.stem] = ended.stdout
        return ended.stdout

    def replacements(self) -> dict[str, str]:
        return {
            "http://127.0.0.1:8080": self.base,
            "https://sign.example.com": self.base,
            "install .": f"install {ROOT}",
            "install --upgrade .": f"install --upgrade {ROOT}",
            "chown esign ": f"chown {self.folder.stat().st_uid} ",
            "/opt/esign": str(self.folder / "opt"),
            "/usr/local/bin": str(self.folder / "local"),
            "/var/lib/esign": str(self.folder / "esign-data"),
            "/srv/backup": str(self.folder / "backup"),
            "/etc/esign": str(self.folder / "etc"),
        }

    def variables(self) -> dict[str, str]:
        """pip takes what is installed here."""
        return {
            "KEY": self.key,
            "PATH": f"{self.folder / 'bin'}:{Path(sys.executable).parent}:/usr/bin:/bin",
            "PIP_NO_COMPILE": "1",
            "PIP_NO_INDEX": "1",
            "PIP_NO_DEPS": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this one the other way round: it builds with what is here
            "PYTHONPATH": sysconfig.get_path("purelib"),
        }


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A server as the pages have it, with the file that the first call has sealed."""
    folder = tmp_path_factory.mktemp("terminal")
    config = configuration(folder, data="esign-data")
    for name, program in (("esign", "-m esign"), ("python3", "")):
        for place in (folder / "bin", folder / ".venv" / "bin"):
            place.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(f'#!/bin/sh\nexec {sys.executable} {program} "$@"\n', "utf-8")
            (place / name).chmod(0o755)
    for name in ("local", "backup", "etc", "esign/demo"):
        (folder / name).mkdir(parents=True)
    shutil.copy(config, folder / "etc" / "esign.toml")
    for name in ("contract.pdf", "esign/demo/contract.pdf"):
        shutil.copy(ROOT / "esign" / "demo" / "contract.pdf", folder / name)
    found = re.search(r"port = (\d+)", config.read_text("utf-8"))
    assert found
    made = esign("keys", "create", "--name", "pages", "--config", config)
    terminal = Terminal(folder, f"http://127.0.0.1:{found[1]}", made.out.strip())
    with (folder / "serve.log").open("wb") as log:
        serving = subprocess.Popen(
            (sys.executable, "-m", "esign", "serve"), cwd=folder, env=environment(), stderr=log
        )
    try:
        wait_for(f"{terminal.base}/healthz")
        terminal.run(DOCS / "first-call.md")
        yield terminal
    finally:
        serving.terminate()
        assert serving.wait(PATIENCE) == 0


def wait_for(address: str) -> None:
    """Return when the server answers."""
    for _ in range(1200):
        try:
            urlopen(address, timeout=5).close()
            return
        except (URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError("the server does not start")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_succeeds(terminal: Terminal, page: Path) -> None:
    terminal.run(page)


def test_the_first_call_ends_with_a_valid_file(terminal: Terminal) -> None:
    assert (terminal.folder / "sealed.pdf").read_bytes().startswith(b"%PDF-")
    assert terminal.run(DOCS / "first-document.md").count("VALID") == 1


def test_a_backup_made_as_the_page_says_holds_every_document(terminal: Terminal) -> None:
    said = terminal.run(DOCS / "backup.md")
    assert "was restored to drill: " in said and said.count("INTACT") == 2 and ALL_OK.search(said)
    [file] = (terminal.folder / "backups").iterdir()
    assert file.stat().st_mode & 0o077 == 0


def test_what_runs_elsewhere_is_in_the_pages_and_its_test_exists() -> None:
    every = [block for page in DOCS.glob("*.md") for block in BLOCK.findall(page.read_text("utf-8"))]
    for begun, test in ELSEWHERE.items():
        assert any(block.startswith(begun) for block in every), begun
        assert (ROOT / test).is_file()


def test_a_command_that_fails_is_noticed(terminal: Terminal, tmp_path: Path) -> None:
    page = (tmp_path / "page").with_suffix(".md")
    page.write_text("# A\n\n```sh\nesign verify nothing.pdf\necho later\n```\n", "utf-8")
    with pytest.raises(AssertionError, match="nothing"):
        terminal.run(page)


@pytest.mark.parametrize("language", ["shell", "bash", "console"])
def test_commands_are_marked_as_sh(language: str) -> None:
    assert not [page.name for page in DOCS.glob("*.md") if f"```{language}" in page.read_text("utf-8")]

"""The wheel is the whole program: installed elsewhere it does the main job without the tree it was built from."""

import json
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.journeys.program import esign

ROOT = Path(__file__).parents[2]

# Runs at the start of every Python of the new environment, the PDF workers included.
WATCH = """
import os, sys

FORBIDDEN = {forbidden!r}

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(FORBIDDEN):
        os.write(2, b"reads the source tree: " + os.fsencode(arguments[0]))
        os._exit(99)

sys.addaudithook(watch)
"""


@dataclass(frozen=True)
class Elsewhere:
    """An environment that has the wheel, and of this one only the libraries."""

    wheel: Path
    folder: Path

    @property
    def command(self) -> tuple[Path]:
        return (self.folder / "bin" / "esign",)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    made, folder = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("elsewhere") / "venv"
    run("-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", made, ROOT)
    [wheel] = made.glob("*.whl")
    run("-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    run("-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    # A path in a .pth file is searched without following the .pth files there: an editable install does not count.
    (packages / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    forbidden = tuple(f"{ROOT / name}/" for name in ("docs", "esign", "packaging", "tests"))
    (packages / "watch.py").write_text(WATCH.format(forbidden=forbidden))
    (packages / "watch.pth").write_text("import watch\n")  # some systems have a sitecustomize of their own
    return Elsewhere(wheel, folder)


def run(*arguments: str | Path) -> None:
    """A command of this Python that must succeed."""
    ended = subprocess.run(
        (sys.executable, *arguments), capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(elsewhere: Elsewhere) -> None:
    with zipfile.ZipFile(elsewhere.wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        licences = {name.rsplit("/", 1)[1] for name in archive.namelist() if "/licenses/" in name}
    source = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "esign").rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    docs = ROOT / "docs"
    pages = {
        f"esign/docs/{file.relative_to(docs)}" for file in (*docs.glob("*.md"), *(docs / "images").iterdir())
    }
    assert packed == source | pages | {"esign/docs/esign.toml.example"}
    assert {"LICENSE", "Noto.OFL.txt"} <= licences
    for kind in (".sql", ".typ", ".ttf", ".html", ".js", ".css", ".json", "contract.pdf"):
        assert any(name.endswith(kind) for name in packed), kind


def test_the_wheel_shows_its_own_documentation(elsewhere: Elsewhere, tmp_path: Path) -> None:
    words = (
        "from esign.web.office.manual.contents import find_example, find_folder\n"
        "from esign.web.office.manual.rendering import load_all\n"
        "print(len(list(load_all())), find_example().is_file(), find_folder())"
    )
    ran = esign("-c", words, command=(elsewhere.folder / "bin" / "python",), cwd=tmp_path)
    count, example, folder = ran.out.split()
    assert (int(count), example) == (len(list((ROOT / "docs").glob("*.md"))), "True")
    assert Path(folder).is_relative_to(elsewhere.folder)


def test_the_program_is_the_one_of_the_wheel(elsewhere: Elsewhere, tmp_path: Path) -> None:
    python = elsewhere.folder / "bin" / "python"
    words = "import esign, json, sys; print(json.dumps([esign.__file__, sys.prefix]))"
    ran = esign("-c", words, command=(python,), cwd=tmp_path)
    file, prefix = json.loads(ran.out)
    assert Path(file).is_relative_to(elsewhere.folder)
    assert Path(prefix) == elsewhere.folder


def test_installed_elsewhere_it_does_the_main_job(elsewhere: Elsewhere, tmp_path: Path) -> None:
    ran = esign("demo", "--exit", command=elsewhere.command, cwd=tmp_path)
    assert (ran.code, ran.err) == (0, "")
    [sealed] = tmp_path.glob("esign-demo/*/sealed.pdf")
    settings = sealed.with_name("esign.toml")
    verified = esign("verify", "--config", settings, sealed, command=elsewhere.command, cwd=tmp_path)
    assert (verified.code, verified.out.partition(":")[0]) == (0, "VALID")
    module = esign("--version", command=(elsewhere.folder / "bin" / "python", "-m", "esign"), cwd=tmp_path)
    assert module.out == esign("--version", command=elsewhere.command).out


def test_reading_the_source_tree_would_have_been_noticed(elsewhere: Elsewhere, tmp_path: Path) -> None:
    words = f"open({str(ROOT / 'esign' / '__init__.py')!r})"
    ran = esign("-c", words, command=(elsewhere.folder / "bin" / "python",), cwd=tmp_path)
    assert ran.code == 99

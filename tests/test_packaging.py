"""The scripts a fresh machine starts with: what they say where something is missing, and what they reuse."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ("sh", "dirname", "basename", "cat", "cmp", "head", "id", "rm")

# Stand-ins for a Python: one too old, one without venv. They answer only what the scripts ask.
TOO_OLD = "#!/bin/sh\nexit 1\n"
NO_VENV = """#!/bin/sh
case "$2" in
    *print*) echo python3.11-venv ;;
    *version_info*) exit 0 ;;
    *) exit 1 ;;
esac
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder that holds the whole tree, and `bin` as the only folder with commands."""
    shutil.copytree(ROOT / "packaging", tmp_path / "packaging")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    commands = tmp_path / "bin"
    commands.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (commands / tool).symlink_to(found)
    return tmp_path


def run(machine: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [machine / "packaging" / script, *arguments],
        cwd="/",
        env={"PATH": str(machine / "bin")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def command(machine: Path, name: str, text: str) -> None:
    file = machine / "bin" / name
    file.write_text(text)
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("python", "sentence"),
    [
        (None, "esign needs Python 3.11 or newer"),
        (TOO_OLD, "esign needs Python 3.11 or newer"),
        (NO_VENV, "apt install python3.11-venv"),
    ],
)
def test_a_machine_without_a_fit_python_is_told_so_in_one_sentence(
    machine: Path, python: str | None, sentence: str
) -> None:
    if python is not None:
        command(machine, "python3", python)
    ran = run(machine, "demo")
    assert ran.returncode == 1
    assert sentence in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert not ran.stdout


def test_without_the_right_to_install_the_missing_programs_are_named(machine: Path) -> None:
    (machine / "bin" / "id").unlink()
    command(machine, "id", "#!/bin/sh\necho 1000\n")
    ran = run(machine, "test")
    assert ran.returncode == 1
    assert "sudo apt install chromium chromium-headless-shell poppler-utils" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_what_was_installed_from_the_same_lock_is_reused(machine: Path) -> None:
    """A second start asks neither for a Python nor for pip: it finds its stamp and goes on."""
    commands = machine / ".venv" / "bin"
    commands.mkdir(parents=True)
    (commands / "python").symlink_to(sys.executable)
    (commands / "esign").write_text('#!/bin/sh\necho "esign $*"\n')
    (commands / "esign").chmod(0o755)
    lock = machine / "packaging" / "requirements.txt"
    version = subprocess.run([sys.executable, "-V"], capture_output=True, text=True, check=True).stdout
    stamp = machine / ".venv" / "requirements.txt.stamp"
    stamp.write_text(f"{machine}\n{version}{(machine / 'pyproject.toml').read_text()}{lock.read_text()}")
    ran = run(machine, "demo", "--exit", "--into", "a b")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "esign demo --exit --into a b\n", "")
    lock.write_text(lock.read_text() + "\n")
    assert run(machine, "demo").returncode == 1


# ---------- nothing skipped ----------

SUITE = """
import pytest
def test_holds(): pass
@pytest.mark.skip(reason="no corpus")
@pytest.mark.corpus
def test_of_the_corpus(): pass
"""
SKIPPED = "@pytest.mark.skip(reason='lazy')\ndef test_skipped(): pass\n"
EXPECTED_TO_FAIL = "@pytest.mark.xfail(strict=True)\ndef test_given_up(): assert False\n"
IMPORT_SKIPPED = "pytest.importorskip('no_such_library')\n"


@pytest.mark.parametrize(
    ("more", "corpus", "code", "named"),
    [
        ("", False, 0, ""),
        ("", True, 1, "test_of_the_corpus"),
        (SKIPPED, False, 1, "test_skipped"),
        (EXPECTED_TO_FAIL, False, 1, "test_given_up"),
        (IMPORT_SKIPPED, False, 1, "test_suite.py"),
    ],
)
def test_a_run_in_which_something_was_skipped_fails(
    tmp_path: Path, more: str, corpus: bool, code: int, named: str
) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['corpus']\n")
    (clone / "test_suite.py").write_text(SUITE + more)
    (clone / "test_other.py").write_text("def test_holds(): pass\n")
    if corpus:
        (tmp_path / "shared" / "corpus").mkdir(parents=True)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.skips", "-p", "no:cacheprovider"],
        cwd=clone,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == code, ran.stdout
    assert named in ran.stdout.partition("which this run does not allow")[2]

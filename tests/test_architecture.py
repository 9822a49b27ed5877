"""The floors of the house, and the few rules that no linter knows."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "esign").rglob("*.py"))

SQL = re.compile(
    r"\b(SELECT\s.+\sFROM|SELECT\s+\d|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+(TABLE|INDEX|TRIGGER)"
    r"|PRAGMA\s+\w+|BEGIN\s+IMMEDIATE|SAVEPOINT\s+\w+)\b",
    re.DOTALL,
)
TIME_READERS = frozenset(
    f"time.{name}{unit}"
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time")
    for unit in ("", "_ns")
) | {
    "time.gmtime",
    "time.localtime",
    "time.ctime",
    "time.asctime",
    "time.strftime",
    "datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "date.today",
}
PDF_LIBRARIES = ("pikepdf", "pypdfium2", "PIL", "typst", "pyhanko", "fontTools", "pypdf")
# `esign --version` has 8 times `python -c pass`, and click takes half of it.
SERVICE_LIBRARIES = (
    *("starlette", "uvicorn", "uvloop", "pydantic", "aiohttp", "aiosqlite", "aiosmtplib", "aiodns"),
    *("jinja2", "cryptography", "orjson", "pyrage", "python_multipart", "segno"),
    *PDF_LIBRARIES,
)


def place(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"), str(file))


def docstrings(module: ast.Module) -> set[int]:
    """The ids of the nodes that are docstrings."""
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = set()
    for owner in ast.walk(module):
        if isinstance(owner, owners) and owner.body and isinstance(owner.body[0], ast.Expr):
            found.add(id(owner.body[0].value))
    return found


def sql(module: ast.Module) -> Iterator[str]:
    skip = docstrings(module)
    for node in ast.walk(module):
        if not isinstance(node, ast.Constant) or id(node) in skip:
            continue
        if isinstance(node.value, str) and (hit := SQL.search(node.value)):
            yield f"line {node.lineno}: {hit[0]}"


def time_readers(module: ast.Module) -> Iterator[str]:
    imported = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and node.module in ("time", "datetime")
        for alias in node.names
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value).rpartition(".")[2]
            owner = imported.get(owner, owner).rpartition(".")[2]
            name = f"{owner}.{node.attr}"
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            name = imported.get(node.id, "")
        else:
            continue
        if name in TIME_READERS:
            yield f"line {node.lineno}: {name}"


def list_loaded(module: str, libraries: tuple[str, ...]) -> list[str]:
    """Which of the libraries a fresh interpreter holds after importing `module`."""
    code = f"import sys, {module}; print(*[name for name in {libraries!r} if name in sys.modules])"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


def test_imports_only_go_down() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    ran = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("file", SOURCES, ids=place)
def test_only_the_store_speaks_sql(file: Path) -> None:
    if not place(file).startswith("esign/store/"):
        assert list(sql(tree(file))) == []


@pytest.mark.parametrize("file", SOURCES, ids=place)
def test_only_the_clock_reads_the_time(file: Path) -> None:
    if place(file) != "esign/system/clock.py":
        assert list(time_readers(tree(file))) == []


@pytest.mark.parametrize("file", SOURCES, ids=place)
def test_every_file_says_what_it_is_for(file: Path) -> None:
    assert ast.get_docstring(tree(file)), "a module starts with one sentence on its job"


# What `esign.app` imports after the server listens.
LATE = (
    "esign.jobs.schedule",
    "esign.web.api.endpoint_table",
    "esign.web.office.routes",
    "esign.web.reference",
)


def test_the_serving_process_opens_no_pdf() -> None:
    assert list_loaded(", ".join(("esign.app", *LATE)), PDF_LIBRARIES) == []


def test_the_server_listens_before_the_jobs_the_api_and_the_pages_are_imported() -> None:
    assert list_loaded("esign.app", (*LATE, "esign.web.pages", "esign.web.signing")) == []


def test_the_command_line_starts_without_the_service() -> None:
    assert list_loaded("esign.cli", SERVICE_LIBRARIES) == []


def test_packaging_does_not_shadow_the_library_of_that_name() -> None:
    assert list((ROOT / "packaging").rglob("__init__.py")) == []


def test_nothing_else_lies_at_the_top() -> None:
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text("utf-8").splitlines()}
    top = {entry.name for entry in ROOT.iterdir() if not entry.name.startswith(".")}
    assert top - ignored - {"__pycache__"} == {
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "docs",
        "esign",
        "esign.toml.example",
        "packaging",
        "pyproject.toml",
        "tests",
    }


# ---------- the rules above can fail ----------


@pytest.mark.parametrize(
    "code",
    [
        'x = "SELECT id FROM documents"',
        'tx.one("SELECT 1")',
        'x = f"UPDATE outbox SET due_at = {now}"',
        'x = """\n  INSERT INTO a\n  VALUES (1)"""',
        'db.run("PRAGMA journal_mode = WAL")',
    ],
)
def test_sql_is_seen(code: str) -> None:
    assert list(sql(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "import time\ntime.time()",
        "from time import monotonic\nmonotonic()",
        "from time import time_ns as now\nnow()",
        "import datetime\ndatetime.datetime.now(datetime.UTC)",
        "from datetime import datetime as dt\ndt.now()",
        "from datetime import date\nread = date.today",
    ],
)
def test_a_look_at_the_time_is_seen(code: str) -> None:
    assert list(time_readers(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    ['"""SELECT a FROM b is what this does."""', 'x = "Select one from the list"', "runtime.clock.now()"],
)
def test_what_only_looks_alike_is_left_alone(code: str) -> None:
    assert not [*sql(ast.parse(code)), *time_readers(ast.parse(code))]


# ---------- the locks ----------


def read_locked(name: str) -> dict[str, str]:
    lines = (ROOT / "packaging" / name).read_text("utf-8").splitlines()
    return {m[1]: m[2] for line in lines if (m := re.match(r"([a-z0-9._-]+)==([^ ;\\]+)", line))}


@pytest.mark.parametrize(("lock", "extras"), [("requirements.txt", ()), ("requirements-test.txt", ("test",))])
def test_a_lock_holds_what_the_project_asks_for(lock: str, extras: tuple[str, ...]) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = settings["project"]
    wanted = [*project["dependencies"], *settings["build-system"]["requires"]]
    wanted += [line for extra in extras for line in project["optional-dependencies"][extra]]
    versions = read_locked(lock)
    for line in wanted:
        requirement = Requirement(line)
        version = versions.get(canonicalize_name(requirement.name))
        assert version is not None, f"{line}: run packaging/lock"
        assert requirement.specifier.contains(version), f"{line}, locked {version}: run packaging/lock"


def test_both_locks_agree() -> None:
    run, test = read_locked("requirements.txt"), read_locked("requirements-test.txt")
    assert run == {name: version for name, version in test.items() if name in run}


@pytest.mark.parametrize("lock", ["requirements.txt", "requirements-test.txt"])
def test_a_lock_has_hashes_for_everything_and_names_no_index(lock: str) -> None:
    text = (ROOT / "packaging" / lock).read_text("utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*-(-index|-extra|-find|i|f)", text, re.MULTILINE)
    entries = re.split(r"\n(?=[a-z])", text)[1:]
    assert len(entries) == len(read_locked(lock))
    assert all("--hash=sha256:" in entry for entry in entries)

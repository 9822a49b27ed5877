"""What is written for people, held against the code."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from esign.config import Config, load_config
from esign.config.reading import KEYS, SECRETS, VARIABLES
from esign.config.tables import TABLES
from tests.house import references, stale_names

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "esign.toml.example"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
KEY_LINE = re.compile(r"^# ([a-z_0-9]+ = .+?) +# .+\.$", re.MULTILINE)


def test_the_example_is_what_the_code_says() -> None:
    made = subprocess.run(
        [sys.executable, ROOT / "packaging" / "example"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert EXAMPLE.read_text("utf-8") == made.stdout, "run packaging/example > esign.toml.example"


def test_the_example_as_it_is_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "esign.toml"
    file.write_text(EXAMPLE.read_text("utf-8"), "utf-8")
    assert load_config(file, {}).model_dump() == Config().model_dump()


def test_the_example_without_its_comment_signs_gives_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "esign.toml"
    file.write_text(KEY_LINE.sub(r"\1", EXAMPLE.read_text("utf-8")), "utf-8")
    written = tomllib.loads(file.read_text("utf-8"))
    assert {f"{table}.{key}" for table, members in written.items() for key in members} == set(KEYS)
    assert load_config(file, {}).model_dump() == Config().model_dump()


def test_the_api_document_is_what_the_code_says() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "esign", "openapi"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    kept = (ROOT / "docs" / "openapi.json").read_text("utf-8")
    assert kept == made.stdout, "run esign openapi > docs/openapi.json"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_local_link_leads_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'<img[^>]+src="([^"]+)"', text)
    local = [target.partition("#")[0] for target in targets if "://" not in target]
    assert [target for target in local if target and not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_named_in_a_page_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    variables = {
        name for name in re.findall(r"\bESIGN_[A-Z0-9]+__[A-Z0-9_]+\b", text) if "SECTION" not in name
    }
    secret_files = {f"{name}_FILE" for name, path in VARIABLES.items() if path in SECRETS}
    assert variables <= VARIABLES.keys() | secret_files
    dotted = re.findall(rf"`({'|'.join(TABLES)})\.([a-z_0-9]+)`", text)
    files = {"json", "pdf", "html", "toml", "md", "py"}
    # an event, an entry and a member of an answer
    others = {"audit.recorded", "audit.erased", "audit.embedded"}
    assert {f"{table}.{key}" for table, key in dotted if key not in files} <= KEYS.keys() | others


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_script_named_in_a_page_exists(page: Path) -> None:
    scripts = re.findall(r"(?<![\w/.])packaging/([a-z][a-z-]*)", page.read_text("utf-8"))
    assert [name for name in scripts if not (ROOT / "packaging" / name).is_file()] == []


def test_every_reference_in_the_code_resolves() -> None:
    assert references.find_unresolved() == [], (
        "write the fact into docs/dev/contract.md or docs/dev/security.md"
    )


def test_every_name_in_a_docstring_or_comment_exists() -> None:
    assert stale_names.find_stale_names() == []


def test_what_is_not_released_yet_has_its_place_in_the_changelog() -> None:
    assert "\n## Unreleased\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")

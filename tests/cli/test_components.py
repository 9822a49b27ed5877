"""`esign licenses` and `esign --version --verbose`: what the program is made of."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from esign import __version__
from esign.cli import components, main
from esign.cli.components import Component, list_components, write_components
from esign.store.engine.engine_version import is_wal_reset_fixed

ROOT = Path(__file__).parents[2]
KNOWN = {
    *(
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "LicenseRef-PDFium-parts",
        "MIT",
        "MIT-0",
        "MIT-CMU",
    ),
    *("MPL-2.0", "OFL-1.1", "PSF-2.0", "Unlicense", "ZPL-2.1"),
    # asyncssh offers both. It is distributed unchanged under EPL-2.0, which asks for its text and where its source is.
    *("EPL-2.0", "GPL-2.0-or-later"),
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_each_part_has_a_licence_that_is_known_and_its_text() -> None:
    """A new dependency whose licence nobody has looked at fails here."""
    for one in list_components():
        assert one.license, one.name
        assert set(re.findall(r"[\w.-]+", one.license)) - {"AND", "OR", "WITH"} <= KNOWN, one
        if one.name != "esign":  # an editable installation has no files
            assert one.texts, one.name


def test_the_direct_dependencies_are_among_the_parts() -> None:
    names = {one.name.lower().replace("_", "-") for one in list_components()}
    assert {"esign", "starlette", "typst", "pikepdf", "lxml"} <= names
    assert not {"pytest", "ruff"} & names, "only what runs is part of the program"


def test_the_list_of_the_one_file_comes_before_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = [Component("SQLite", "3.99.0", "blessing", ("May you do good.",), "pkg:generic/sqlite@3.99.0")]
    monkeypatch.setattr(components, "BUNDLED", tmp_path / "licenses.json")
    (tmp_path / "licenses.json").write_text(write_components(inside))
    assert list_components() == inside
    assert run("licenses").output == "SQLite  3.99.0          blessing\n"
    assert "May you do good." in run("licenses", "SQLite").output
    assert "May you do good." in run("licenses", "all").output


def test_an_unknown_part_is_told() -> None:
    ran = run("licenses", "no-such-part")
    assert ran.exit_code == 2
    assert "nothing inside is called no-such-part" in ran.output


def test_the_parts_are_written_as_json() -> None:
    part = Component("a", "1", "MIT", ("text",), "pkg:pypi/a@1")
    assert json.loads(write_components([part]))[0]["texts"] == ["text"]


def test_the_version_is_short_and_the_verbose_one_names_every_part() -> None:
    assert run("--version").output == f"esign {__version__}\n"
    told = run("--version", "--verbose").output
    assert told == run("--verbose", "--version").output
    names = [line.split()[0] for line in told.splitlines()]
    assert names == ["esign", "Python", "SQLite", "OpenSSL", "pikepdf", "pdfium", "Typst", "system"]


def test_without_a_command_the_usage_is_shown() -> None:
    assert run().exit_code == 2
    assert "Commands:" in run().output
    assert "Missing command" in run("--verbose").output


@pytest.mark.parametrize(
    ("version", "fixed"),
    [
        *(
            ((3, 40, 1), False),
            ((3, 44, 5), False),
            ((3, 44, 6), True),
            ((3, 45, 0), False),
            ((3, 50, 6), False),
        ),
        *(((3, 50, 7), True), ((3, 51, 2), False), ((3, 51, 3), True), ((3, 53, 2), True), ((4, 0, 0), True)),
    ],
)
def test_which_sqlite_can_lose_commits_is_known(version: tuple[int, int, int], fixed: bool) -> None:
    assert is_wal_reset_fixed(version) is fixed

"""The command line as a person at a console meets it: what stands on stdout, on stderr, and the exit code."""

import base64
import json
import re
import secrets
import shutil
import signal
import socket
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from openapi_spec_validator import validate

from esign import __version__
from esign.core.actor import Mode
from esign.core.instant import DAY, HOUR
from esign.core.people import api_key
from esign.system.clock import SystemClock, read_boot_id
from tests.journeys.api import Api, a_pdf, a_request, a_session, until
from tests.journeys.conftest import Demonstration
from tests.journeys.program import Program, Ran, configuration, esign, limit_files, meanwhile
from tests.pdf.proofs import a_list, an_answer
from tests.pdf.tails import Proofs, RevisionStyle, a_store, facts, revision
from tests.pki import NOW, an_authority

DONE, FAILED, USAGE, SERVED, NEWER, DAMAGED, STORAGE = 0, 1, 2, 3, 4, 65, 70

KEY = re.compile(r"esk_(live|test)_[0-9A-Za-z]{36}\n")


def assert_refused(ran: Ran, code: int, *words: str) -> None:
    """This exit code, nothing on stdout, and one sentence on stderr that holds these words."""
    assert (ran.code, ran.out) == (code, ""), ran
    assert all(word in ran.err for word in words), ran.err


def a_key(config: Path, *arguments: str) -> str:
    ran = esign("keys", "create", "--name", "ci", *arguments, "--config", config)
    assert ran.code == DONE, ran.err
    return ran.out.strip()


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The configuration of an installation that never ran."""
    return configuration(tmp_path)


# ---------- the program itself ----------


def test_the_version_is_that_of_the_package() -> None:
    assert esign("--version").out == f"esign {__version__}\n"


@pytest.mark.parametrize(
    "command",
    [
        *("", "serve", "demo", "keys", "keys create", "keys list", "keys revoke"),
        *("users", "users create", "users list", "users reset-password", "users disable"),
        *("orgs", "orgs create", "orgs list", "orgs set-plan"),
        *("clock", "clock show", "clock confirm"),
        *("verify", "verify-audit", "openapi", "init", "licenses", "upgrade-check", "completion"),
    ],
)
def test_every_command_explains_itself(command: str) -> None:
    ran = esign(*command.split(), "--help")
    assert ran.code == DONE
    assert ran.out.startswith("Usage: ")
    assert ("--config FILE" in ran.out) == (
        command not in ("", "demo", "keys", "users", "orgs", "clock", "openapi", "licenses", "completion")
    )


@pytest.mark.parametrize("arguments", [["nothing"], ["serve", "--port", "1"], ["keys", "create"], ["verify"]])
def test_a_command_written_wrongly_is_a_usage_error(arguments: list[str]) -> None:
    assert_refused(esign(*arguments), USAGE, "Error: ")


# ---------- configuration ----------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("[server]\nprot = 1\n", ("server.prot", "server.port")),
        ('[server]\nport = "80"\n', ("server.port", '"80"', "1 to 65535")),
        ("[server\n", ("esign.toml", "line 1")),
        ('[mail]\nhost = "mail.example.test"\n', ("mail.from",)),
    ],
)
@pytest.mark.parametrize("command", ["serve", "keys list"])
def test_a_wrong_configuration_stops_every_command(
    tmp_path: Path, settings: str, words: tuple[str, ...], command: str
) -> None:
    file = tmp_path / "esign.toml"
    file.write_text(settings)
    assert_refused(esign(*command.split(), "--config", file), USAGE, *words)
    assert_refused(esign(*command.split(), cwd=tmp_path), USAGE, *words)
    assert list(tmp_path.iterdir()) == [file], "nothing was made"


def test_a_configuration_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert_refused(esign("serve", "--config", tmp_path / "none.toml"), USAGE, "none.toml", "cannot be read")


def test_relative_paths_are_relative_to_the_file(tmp_path: Path, config: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    assert esign("keys", "list", "--config", config, cwd=tmp_path / "elsewhere").code == DONE
    assert (tmp_path / "data" / "esign.db").exists()


def test_the_data_folder_is_closed_to_others(tmp_path: Path, config: Path) -> None:
    a_key(config)
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "data").iterdir()} == {0o600}


# ---------- keys ----------


def test_the_key_stands_alone_on_stdout_and_the_words_on_stderr(config: Path) -> None:
    ran = esign("keys", "create", "--name", "ci", "--config", config)
    assert ran.code == DONE
    assert KEY.fullmatch(ran.out)
    assert api_key.parse_mode(ran.out.strip()) is Mode.LIVE
    assert "ci" in ran.err and ran.out.strip() not in ran.err


def test_a_test_key_is_one_of_test_mode(config: Path) -> None:
    assert api_key.parse_mode(a_key(config, "--test")) is Mode.TEST


def test_the_list_shows_every_key_with_its_state_and_never_itself(config: Path) -> None:
    empty = esign("keys", "list", "--config", config)
    assert (empty.code, empty.out) == (DONE, "")
    assert "esign keys create" in empty.err and str(config.parent) in empty.err
    full = a_key(config)
    a_key(config, "--scope", "documents:read", "--scope", "documents:write", "--expires-days", "30")
    listed = esign("keys", "list", "--config", config).out
    assert full not in listed
    first, second = listed.splitlines()
    assert re.fullmatch(r"key_\w{26}  esk_live_\w{4}…\w{4}  active  \*  ci", first)
    assert "documents:read,documents:write" in second
    identity = first.split()[0]
    revoked = esign("keys", "revoke", identity, "--config", config)
    assert (revoked.code, revoked.out) == (DONE, "")
    states = [line.split()[2] for line in esign("keys", "list", "--config", config).out.splitlines()]
    assert states == ["revoked", "active"]


def test_a_key_that_cannot_be_is_refused(config: Path, tmp_path: Path) -> None:
    create = ("keys", "create", "--config", config)
    assert_refused(
        esign(*create, "--name", "x", "--scope", "documents:eat"), USAGE, "documents:eat", "documents:read"
    )
    admin = esign(*create, "--name", "x", "--test", "--scope", "account:admin")
    assert_refused(admin, USAGE, "a test key cannot have account:admin")
    assert_refused(esign(*create, "--name", "x", "--expires-days", "0"), USAGE, "--expires-days")
    assert_refused(esign(*create, "--name", " "), USAGE, "--name")
    assert_refused(esign(*create, "--name", "a\nb"), USAGE, "--name")
    assert not (tmp_path / "data").exists(), "nothing was made"


def test_an_organisation_whose_name_no_font_can_print_is_not_made(config: Path) -> None:
    env = {"ESIGN_ORGANISATION__NAME": "Acme \U00010380"}
    for command in (("serve",), ("keys", "create", "--name", "ci")):
        ran = esign(*command, "--config", config, env=env)
        assert_refused(ran, USAGE, "organisation.name", "Acme \U00010380", "none prints")
    assert not list((config.parent / "data").rglob("*seal*")), "no certificate is in this name"
    a_key(config)
    made = esign("keys", "create", "--name", "ci", "--config", config, env=env)
    assert made.code == DONE, "the name is not read again"


def test_an_unknown_key_cannot_be_revoked(config: Path) -> None:
    assert_refused(esign("keys", "revoke", "key_none", "--config", config), FAILED, "key_none")


@pytest.mark.parametrize("plan", ["free", "team"])
def test_below_the_business_plan_no_key_is_made(config: Path, plan: str) -> None:
    env = {"ESIGN_ORGANISATION__PLAN": plan}
    ran = esign("keys", "create", "--name", "ci", "--config", config, env=env)
    assert_refused(ran, FAILED, "business plan", "organisation.plan")
    assert esign("keys", "list", "--config", config).out == ""


def test_a_test_installation_issues_only_test_keys(config: Path) -> None:
    env = {"ESIGN_SERVER__ENVIRONMENT": "test"}
    create = ("keys", "create", "--name", "ci", "--config", config)
    assert_refused(esign(*create, env=env), USAGE, "--test")
    assert api_key.parse_mode(esign(*create, "--test", env=env).out.strip()) is Mode.TEST


def test_at_the_limit_of_active_keys_one_must_be_revoked_first(config: Path) -> None:
    env = {"ESIGN_LIMITS__API_KEYS": "1"}
    create = ("keys", "create", "--name", "ci", "--config", config)
    assert esign(*create, env=env).code == DONE
    assert_refused(esign(*create, env=env), FAILED, "1 active key;", "revoke")


async def test_keys_made_and_revoked_beside_a_running_server_count_at_once(program: Program) -> None:
    create = ("keys", "create", "--config", program.config)
    async with a_session() as session:
        text = (await meanwhile(*create, "--name", "ci")).out.strip()
        api = Api(session, program.base, text)
        document = await api.create()
        assert await api.status(document) == "draft"
        reader = Api(
            session,
            program.base,
            (await meanwhile(*create, "--name", "r", "--scope", "documents:read")).out.strip(),
        )
        assert await reader.status(document) == "draft"
        refused = await reader.call("POST", f"/documents/{document}/send")
        assert (refused.status, refused.code) == (401, "insufficient_scope")
        listed = (await meanwhile("keys", "list", "--config", program.config)).out
        identity = next(line.split()[0] for line in listed.splitlines() if line.endswith("ci"))
        assert (await meanwhile("keys", "revoke", identity, "--config", program.config)).code == DONE
        after = await api.call("GET", f"/documents/{document}")
        assert (after.status, after.code) == (401, "api_key_revoked")
        assert await reader.status(document) == "draft"


async def test_a_key_made_before_the_server_ever_ran_opens_it(config: Path) -> None:
    text = a_key(config)
    program = Program(config)
    await program.start()
    try:
        async with a_session() as session:
            assert await Api(session, program.base, text).ok("GET", "/documents") == {
                "data": [],
                "hasMore": False,
                "nextCursor": None,
            }
    finally:
        await program.kill()


# ---------- serve ----------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_server_that_is_told_to_stop_ends_well(config: Path, number: signal.Signals) -> None:
    program = Program(config)
    await program.start()
    assert await program.stop(number) == DONE
    assert "Traceback" not in program.said
    assert program.base in program.said and "esign outbox" in program.said
    assert not (config.parent / "data" / "esign.db-wal").exists(), "the log was brought into the file"


async def test_a_second_server_on_the_same_data_ends_with_3(program: Program, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = configuration(tmp_path / "other", data=str(tmp_path / "data"))
    assert_refused(await meanwhile("serve", "--config", other), SERVED, "another esign server", "data_dir")
    async with aiohttp.ClientSession() as session, session.get(f"{program.base}/readyz") as answer:
        assert answer.status == 200


def test_a_port_that_is_taken_is_told(config: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken = str(listener.getsockname()[1])
        ran = esign("serve", "--config", config, env={"ESIGN_SERVER__PORT": taken})
    assert ran.code == FAILED
    assert taken in ran.err and "server.port" in ran.err


def test_an_address_that_is_not_of_this_machine_is_told(config: Path) -> None:
    env = {"ESIGN_SERVER__HOST": "192.0.2.1", "ESIGN_SERVER__BASE_URL": "https://sign.example.test"}
    assert_refused(esign("serve", "--config", config, env=env), FAILED, "192.0.2.1", "server.host")


def test_an_empty_outbox_says_so_and_where_mails_go(config: Path) -> None:
    env = {"ESIGN_MAIL__HOST": "smtp.example.test", "ESIGN_MAIL__FROM": "sign@example.test"}
    ran = esign("outbox", "--config", config, env=env)
    assert (ran.code, ran.out) == (DONE, "")
    assert f"No email is kept in {config.parent}" in ran.err and "smtp.example.test" in ran.err


@pytest.mark.parametrize(
    "command", [("serve",), ("keys", "list"), ("keys", "create", "--name", "x"), ("outbox",)]
)
def test_a_newer_schema_ends_with_4_and_is_not_touched(
    config: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    a_key(config)
    path = tmp_path / "data" / "esign.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    assert_refused(esign(*command, "--config", config), NEWER, "schema 99", "newer version")
    assert path.read_bytes() == before
    assert not path.with_name("esign.db-wal").exists()


def spoil_database(folder: Path) -> None:
    (folder / "esign.db").write_bytes(b"no database at all " * 100)


def another_database(folder: Path) -> None:
    (folder / "esign.db").unlink()
    with sqlite3.connect(folder / "esign.db") as connection:
        connection.execute("CREATE TABLE of_somebody_else (id INTEGER)")
    connection.close()


def spoil_page(folder: Path) -> None:
    with (folder / "esign.db").open("r+b") as file:
        file.seek(4096 * 5)
        file.write(b"\xff" * 4096)


def lose_database(folder: Path) -> None:
    (folder / "esign.db").unlink()


def empty_database(folder: Path) -> None:
    (folder / "esign.db").write_bytes(b"")


def exchange_key(folder: Path) -> None:
    (folder / "app.key").write_bytes(b"k" * 32)


def exchange_key_of_older(folder: Path) -> None:
    """A database that does not remember its key."""
    exchange_key(folder)
    with sqlite3.connect(folder / "esign.db") as connection:
        connection.execute("DELETE FROM installation")
    connection.close()


def shorten_key(folder: Path) -> None:
    (folder / "app.key").write_bytes(b"short")


def lose_key(folder: Path) -> None:
    (folder / "app.key").unlink()


def forget_seal_key(folder: Path) -> None:
    (folder / "seal.key").write_text("not a key")


@pytest.mark.parametrize(
    ("spoil", "code", "words"),
    [
        (spoil_database, DAMAGED, ("not a database", "data_dir")),
        (another_database, DAMAGED, ("another program", "data_dir")),
        (spoil_page, DAMAGED, ("damaged", "backup", ".recover")),
        (lose_database, USAGE, ("esign.db is missing", "backup")),
        (empty_database, USAGE, ("esign.db is empty", "backup")),
        (exchange_key, USAGE, ("app.key is not the key", "nothing was changed")),
        (exchange_key_of_older, USAGE, ("app.key is not the key", "nothing was changed")),
        (shorten_key, USAGE, ("app.key", "backup")),
        (lose_key, USAGE, ("app.key", "missing", "backup")),
        (forget_seal_key, USAGE, ("seal.key", "backup")),
    ],
)
def test_damaged_data_is_told_with_what_to_do(
    demonstration: Demonstration,
    tmp_path: Path,
    spoil: Callable[[Path], None],
    code: int,
    words: tuple[str, ...],
) -> None:
    copy = shutil.copytree(demonstration.folder, tmp_path / "copy")
    spoil(copy / "data")
    assert_refused(esign("serve", "--config", copy / "esign.toml"), code, *words)


@pytest.mark.parametrize("name", ["app.key", "lock", "write.lock"])
def test_what_cannot_be_opened_is_named_with_what_to_do(
    demonstration: Demonstration, tmp_path: Path, name: str
) -> None:
    copy = shutil.copytree(demonstration.folder, tmp_path / "copy")
    (copy / "data" / name).unlink()
    (copy / "data" / name).mkdir()
    ran = esign("serve", "--config", copy / "esign.toml")
    assert_refused(ran, USAGE, f"{copy / 'data' / name}: ", "must be able to read and write")


def test_a_data_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    env = {"ESIGN_STORAGE__DATA_DIR": str(tmp_path / "file" / "data")}
    for command in (("serve",), ("keys", "list")):
        assert_refused(esign(*command, env=env, cwd=tmp_path), USAGE, "data folder", "cannot be made")


# ---------- a disk that is full ----------


@pytest.mark.parametrize("size", [1_000, 60_000])
@pytest.mark.parametrize("command", [("serve",), ("keys", "create", "--name", "x")])
def test_where_nothing_can_be_stored_it_ends_with_70(
    config: Path, size: int, command: tuple[str, ...]
) -> None:
    refused = (*limit_files(size), sys.executable, "-m", "esign")
    assert_refused(esign(*command, "--config", config, command=refused), STORAGE, "cannot be written")


async def test_a_server_whose_disk_refuses_a_write_stops_with_70_and_loses_nothing(config: Path) -> None:
    """Nothing more may be acknowledged after a failed write: the process ends, and another start goes on."""
    text = a_key(config)
    program = Program(config, limit=2_000_000)
    await program.start()
    acknowledged = []
    async with a_session() as session:
        api = Api(session, program.base, text)

        async def is_gone() -> bool | None:
            try:
                answer = await api.call("POST", "/documents", a_large_request())
            except aiohttp.ClientError:
                return True
            if answer.status == 201:
                acknowledged.append(answer.body["id"])
            else:
                assert answer.status == 503, answer.content
            return None

        await until(is_gone, "end of the server")
    assert await program.wait_for_end() == STORAGE
    assert "Traceback" not in program.said
    assert "cannot be written" in program.said
    assert acknowledged
    healthy = Program(config)
    await healthy.start()
    async with a_session() as session:
        api = Api(session, healthy.base, text)
        assert {await api.status(document) for document in acknowledged} == {"draft"}
        await api.create()
    assert await healthy.stop() == DONE


@pytest.mark.parametrize("place", ["data", "data/esign.db"])
async def test_a_server_whose_database_is_replaced_stops_with_70_and_acknowledges_nothing(
    config: Path, place: str
) -> None:
    text = a_key(config)
    program = Program(config)
    await program.start()
    async with a_session() as session:
        api = Api(session, program.base, text)
        before = await api.create()
        there = config.parent / place
        there.rename(config.parent / "aside")
        if there.suffix:
            shutil.copy(config.parent / "aside", there)
        else:
            shutil.copytree(config.parent / "aside", there)
        refused = await api.call("PATCH", f"/documents/{before}", {"title": "Lost?"})
        assert (refused.status, refused.code) == (503, "unavailable")
    assert await program.wait_for_end() == STORAGE
    assert "Traceback" not in program.said
    assert "moved, deleted or replaced" in program.said and "restore a backup" in program.said


def a_large_request() -> dict[str, Any]:
    """A document whose file takes 200 kB of the disk."""
    heavy = a_pdf() + b"\n%" + secrets.token_hex(100_000).encode() + b"\n"
    return a_request(file=base64.b64encode(heavy).decode())


# ---------- verify ----------


def verify(demonstration: Demonstration, name: str, *arguments: str | Path) -> Ran:
    return esign("verify", "--config", demonstration.config, demonstration.file(name), *arguments)


def test_an_untouched_file_is_valid_and_a_tampered_one_is_not(demonstration: Demonstration) -> None:
    valid = verify(demonstration, "sealed.pdf")
    assert (valid.code, valid.out.partition(":")[0], valid.err) == (DONE, "VALID", "")
    tampered = verify(demonstration, "tampered.pdf")
    assert (tampered.code, tampered.out.partition(":")[0]) == (FAILED, "NOT VALID")


def test_a_page_that_no_table_lists_is_not_valid_and_proof_alone_is(
    demonstration: Demonstration, tmp_path: Path
) -> None:
    sealed = demonstration.file("sealed.pdf").read_bytes()
    known = facts(sealed)
    lying = {known.content: b"<< /Length 0 >>\nstream\n\nendstream"}
    authority = an_authority("Anybody")
    store = a_store(
        known, Proofs(authority.der, a_list(authority, NOW), an_answer(authority, authority, NOW))
    )
    for name, way, code in (
        ("proof", RevisionStyle(), DONE),
        ("page", RevisionStyle(unlisted=lying, size=10), FAILED),
    ):
        path = tmp_path / f"{name}.pdf"
        path.write_bytes(revision(known, store, way))
        ran = esign("verify", "--config", demonstration.config, path)
        assert ran.code == code, (name, ran.out)
        assert "file is unchanged" not in ran.out
    assert (
        "Only proof was added"
        in esign("verify", "--config", demonstration.config, tmp_path / "proof.pdf").out
    )


def test_the_verification_as_json_has_the_shape_of_the_contract(demonstration: Demonstration) -> None:
    ran = verify(demonstration, "sealed.pdf", "--json")
    told = json.loads(ran.out)
    assert ran.code == DONE
    assert set(told) == {
        "result",
        "summary",
        "unchanged",
        "sha256",
        "pageCount",
        "issuedHere",
        "documentId",
        "audit",
        "signatures",
    } | {"documentTimestamps", "signers"}
    assert (told["result"], told["issuedHere"], told["pageCount"]) == ("valid", True, 5)
    [signature] = told["signatures"]
    assert set(signature) == {
        *("fieldName", "signerName", "signedAt", "intact", "valid", "trusted", "coverage", "modification"),
        "additions",
        *("timestamp", "level", "levelAsked", "certificate", "reasons", "issuedHere", "revocation"),
    }
    assert (signature["coverage"], signature["modification"], signature["level"]) == (
        "entire_file",
        "none",
        "B-B",
    )
    assert set(signature["certificate"]) == {
        "subject",
        "issuer",
        "serialNumber",
        "notBefore",
        "notAfter",
        "sha256",
    }
    assert (signature["intact"], signature["valid"], signature["trusted"]) == (True, True, True)
    tampered = verify(demonstration, "tampered.pdf", "--json")
    assert (tampered.code, json.loads(tampered.out)["result"]) == (FAILED, "invalid")


def test_another_installation_trusts_the_file_only_with_its_root(
    demonstration: Demonstration, config: Path
) -> None:
    sealed = demonstration.file("sealed.pdf")
    stranger = ("verify", "--config", config, sealed)
    unknown = esign(*stranger, "--json")
    assert (unknown.code, json.loads(unknown.out)["result"]) == (FAILED, "indeterminate")
    assert json.loads(unknown.out)["issuedHere"] is False
    trusted = esign(*stranger, "--trust", demonstration.folder / "data" / "authority.pem")
    assert (trusted.code, trusted.out.partition(":")[0]) == (DONE, "VALID")
    assert not (config.parent / "data").exists(), "looking makes nothing"


def test_a_file_without_a_signature_is_not_valid(config: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.pdf").write_bytes(a_pdf())
    ran = esign("verify", "--json", "--config", config, tmp_path / "plain.pdf")
    assert (ran.code, json.loads(ran.out)["result"]) == (FAILED, "unsigned")


def test_what_cannot_be_read_ends_with_2(demonstration: Demonstration, config: Path, tmp_path: Path) -> None:
    (tmp_path / "text.pdf").write_text("no PDF")
    (tmp_path / "empty.pdf").write_text("")
    check = ("verify", "--config", config)
    assert_refused(esign(*check, tmp_path / "text.pdf"), USAGE, "text.pdf", "not a PDF")
    assert_refused(esign(*check, tmp_path / "empty.pdf"), USAGE, "empty.pdf")
    assert_refused(esign(*check, tmp_path / "none.pdf"), USAGE, "none.pdf", "cannot be read")
    assert_refused(esign(*check, tmp_path), USAGE, "directory")
    sealed = demonstration.file("sealed.pdf")
    assert_refused(esign(*check, sealed, "--trust", tmp_path / "text.pdf"), USAGE, "not a certificate")


# ---------- outbox ----------


def test_a_kept_mail_can_be_listed_and_read_with_its_link(demonstration: Demonstration) -> None:
    listed = esign("outbox", "--config", demonstration.config)
    lines = listed.out.splitlines()
    assert (listed.code, len(lines)) == (DONE, 6)
    invitation = next(line for line in lines if "Please sign:" in line)
    read = esign("outbox", invitation.split()[0], "--config", demonstration.config)
    assert read.code == DONE
    assert "Subject: Please sign:" in read.out
    assert re.search(r"http://127\.0\.0\.1:\d+/s/[\w-]{43}", read.out)
    newest = esign("outbox", "--last", "1", "--config", demonstration.config)
    assert newest.out.splitlines() == lines[-1:]


def test_a_mail_that_is_not_there_is_told(demonstration: Demonstration) -> None:
    ran = esign("outbox", "mail_none", "--config", demonstration.config)
    assert_refused(ran, FAILED, "mail_none", "esign outbox")


def test_no_command_works_with_another_application_key(demonstration: Demonstration, tmp_path: Path) -> None:
    copy = shutil.copytree(demonstration.folder, tmp_path / "copy")
    (copy / "data" / "app.key").write_bytes(bytes(32))
    config = copy / "esign.toml"
    assert_refused(esign("outbox", "--config", config), USAGE, "app.key", "nothing was changed")
    assert_refused(esign("verify-audit", "--config", config), USAGE, "app.key", "nothing was changed")


# ---------- openapi ----------


def test_the_description_of_the_api_is_valid_openapi_3_1() -> None:
    ran = esign("openapi")
    told = json.loads(ran.out)
    assert (ran.code, ran.err) == (DONE, "")
    assert told["openapi"].startswith("3.1")
    assert {"/api/v1/documents", "/api/v1/webhooks"} <= set(told["paths"])
    validate(told)


async def test_the_server_serves_the_same_description_without_a_key(program: Program) -> None:
    printed = json.loads((await meanwhile("openapi")).out)
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{program.base}/api/v1/openapi.json") as answer,
    ):
        assert answer.status == 200
        assert await answer.json() == printed


# ---------- the clock ----------


def test_where_no_server_ran_there_is_nothing_to_say_of_a_clock(config: Path) -> None:
    ran = esign("clock", "show", "--config", config)
    assert ran.code == DONE and "No server has run here yet." in ran.out
    ran = esign("clock", "confirm", "--config", config)
    assert (ran.code, ran.out) == (DONE, "") and "nothing to confirm" in ran.err


def test_a_jump_is_shown_and_confirmed(tmp_path: Path, config: Path) -> None:
    assert esign("keys", "list", "--config", config).code == DONE  # which makes the database
    with sqlite3.connect(tmp_path / "data" / "esign.db") as database:
        database.execute("INSERT INTO clock_mark VALUES (1, 1, 1, '', 1, 31536000000, NULL)")
    database.close()
    assert "the clock jumped 365 days ahead" in esign("clock", "show", "--config", config).out
    assert "The server will use 20" in esign("clock", "confirm", "--config", config).out


@pytest.mark.parametrize("ahead", [-2 * DAY, DAY, 365 * DAY])
def test_what_a_command_plans_goes_by_the_time_that_the_server_believes(
    tmp_path: Path, config: Path, ahead: int
) -> None:
    """A link or key made while the clock of the machine is wrong neither lasts a year longer nor has ended already."""
    users = ("users", "create", "--email", "ada@example.test", "--name", "Ada", "--config", config)
    assert esign("keys", "list", "--config", config).code == DONE
    source = SystemClock()
    right = source.now() - ahead
    mark = (right, round(source.monotonic() * 1000), read_boot_id())
    with sqlite3.connect(tmp_path / "data" / "esign.db") as database:
        database.execute("INSERT INTO clock_mark VALUES (1, ?, ?, ?, NULL, NULL, NULL)", mark)
    database.close()
    a_key(config, "--expires-days", "1")
    assert esign(*users).code == DONE
    with sqlite3.connect(tmp_path / "data" / "esign.db") as database:
        [(key,)] = database.execute("SELECT expires_at FROM api_key").fetchall()
        [(ticket,)] = database.execute("SELECT expires_at FROM ticket").fetchall()
    database.close()
    assert abs(key - right - DAY) < HOUR and abs(ticket - right - 7 * DAY) < HOUR
    assert "  active  " in esign("keys", "list", "--config", config).out

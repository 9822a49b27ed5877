"""`esign users`, `esign orgs` and the link of the first start: how people come to sign in without any page."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest

from tests.journeys.api import until
from tests.journeys.program import Program, Ran, configuration, esign, meanwhile

DONE, FAILED, USAGE = 0, 1, 2
PASSWORD = "copper kettle under nine maples"
NEW = "seven violet tractors hum"
LINK = re.compile(r"http://\S+/set-up/[\w-]{43}")
TOLD = "to set up esign, open the link in"


async def ask(program: Program, *arguments: str) -> Ran:
    return await meanwhile(*arguments, "--config", program.config)


async def setup_link(program: Program, before: str = "") -> str:
    """The link of this start, once it stands in its file."""
    file = program.config.parent / "data" / "setup-link"

    async def find_written() -> str | None:
        text = file.read_text().strip() if file.exists() else before
        return text if text != before else None

    found = await until(find_written, "link of the first start")
    assert LINK.fullmatch(found) and file.stat().st_mode & 0o777 == 0o600
    return found


async def send(address: str, **form: str) -> tuple[int, str]:
    """Status of a form that is sent, and where it led in the end."""
    jar = aiohttp.CookieJar(unsafe=True)  # also for a host without a name
    async with aiohttp.ClientSession(cookie_jar=jar) as session, session.post(address, data=form) as answer:
        return answer.status, str(answer.url)


async def sign_in(program: Program, email: str, password: str = PASSWORD) -> str:
    """The path that signing in leads to."""
    _, to = await send(f"{program.base}/sign-in", email=email, password=password)
    return to.removeprefix(program.base)


async def create(program: Program, role: str, *more: str) -> str:
    """The link of somebody new."""
    email, name = f"{role}@example.test", role.title()
    ran = await ask(program, "users", "create", "--email", email, "--name", name, "--role", role, *more)
    assert ran.code == DONE and "7 days" in ran.err, ran
    assert re.fullmatch(rf"{re.escape(program.base)}/invitation/[\w-]{{43}}\n", ran.out)
    return ran.out.strip()


async def test_the_link_of_the_first_start_makes_the_owner_and_stands_in_no_log(program: Program) -> None:
    first = await setup_link(program)
    await program.stop()
    await program.start()
    second = await setup_link(program, first)
    given = {"organisation": "Northlight", "timeZone": "Europe/Berlin", "name": "Ada", "email": "a@b.test"}
    assert (await send(first, **given, password=PASSWORD))[0] == 404
    assert await send(second, **given, password=PASSWORD) == (200, f"{program.base}/server/address")
    assert not (program.config.parent / "data" / "setup-link").exists(), "it was used"
    await program.stop()
    await program.start()
    assert await sign_in(program, "a@b.test") == "/documents"
    await program.stop()
    assert program.said.count(TOLD) == 2 and "setup-link" in program.said
    for link in (first, second):
        assert link.rpartition("/")[2] not in program.said


async def test_a_file_of_an_earlier_start_goes_where_there_is_an_owner(program: Program) -> None:
    await send(await create(program, "owner"), name="Orla", password=PASSWORD)
    await program.stop()
    (program.config.parent / "data" / "setup-link").write_text("http://old.example.test/set-up/x")
    await program.start()
    await program.stop()
    assert not (program.config.parent / "data" / "setup-link").exists()


def test_at_a_terminal_the_link_is_shown_and_written_nowhere(tmp_path: Path) -> None:
    config = configuration(tmp_path)
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "esign", "serve", "--config", str(config)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
    ) as served:  # fmt: skip
        os.close(theirs)
        said = b""
        try:
            while not LINK.search(said.decode("utf-8", "replace")):
                said += os.read(ours, 4096)
            assert not list(tmp_path.rglob("setup-link"))
        finally:
            served.terminate()
            with suppress(OSError):
                while os.read(ours, 4096):
                    pass
    os.close(ours)


async def test_people_are_made_listed_disabled_and_let_in_again(program: Program) -> None:
    empty = await ask(program, "users", "list")
    assert (empty.code, empty.out) == (DONE, "") and "esign users create" in empty.err
    link = await create(program, "owner")
    assert await send(link, name="Orla", password=PASSWORD) == (200, f"{program.base}/documents?done=joined")
    await send(await create(program, "viewer"), name="Vi", password=PASSWORD)
    listed = (await ask(program, "users", "list")).out.splitlines()
    assert re.fullmatch(r"owner@example.test  password  owner of org_\w{26}  Orla", listed[0])
    assert re.fullmatch(r"viewer@example.test  password  viewer of org_\w{26}  Vi", listed[1])
    assert (await ask(program, "users", "disable", "viewer@example.test")).code == DONE
    assert "disabled" in (await ask(program, "users", "list")).out
    assert await sign_in(program, "viewer@example.test") == "/sign-in"
    assert (await ask(program, "users", "disable", "viewer@example.test", "--undo")).code == DONE
    assert await sign_in(program, "viewer@example.test") == "/documents"
    last = await ask(program, "users", "disable", "owner@example.test")
    assert (last.code, last.out) == (FAILED, "") and "at least one owner" in last.err


async def test_a_password_is_reset_on_the_command_line(program: Program) -> None:
    await send(await create(program, "owner"), name="Orla", password=PASSWORD)
    ran = await ask(program, "users", "reset-password", "OWNER@example.test")
    assert ran.code == DONE and "within an hour" in ran.err
    assert await sign_in(program, "owner@example.test") == "/sign-in"
    assert (await send(ran.out.strip(), password=NEW))[1].endswith("/sign-in?done=password")
    assert await sign_in(program, "owner@example.test", NEW) == "/documents"


async def test_organisations_are_made_listed_and_given_a_plan(program: Program) -> None:
    refused = await ask(program, "orgs", "create", "--name", "Acme 𒀭")
    assert refused.code == 2 and "no installed font can print 𒀭" in refused.err
    made = await ask(program, "orgs", "create", "--name", "Second Ltd", "--plan", "free")
    assert made.code == DONE and re.fullmatch(r"org_\w{26}\n", made.out)
    second = made.out.strip()
    assert (await ask(program, "orgs", "set-plan", second, "team")).code == DONE
    lines = (await ask(program, "orgs", "list")).out.splitlines()
    assert re.fullmatch(r"org_\w{26}  business  esign", lines[0])
    assert lines[1:] == [f"{second}  team  Second Ltd"]
    link = await create(program, "owner", "--org", second)
    async with aiohttp.ClientSession() as session, session.get(link) as answer:
        assert "Join Second Ltd" in await answer.text()


REFUSED = [
    (("users", "create", "--email", "nobody", "--name", "N"), USAGE, "--email: 'nobody' is not valid"),
    (("users", "create", "--email", "a@b.test", "--name", " "), USAGE, "--name"),
    (("users", "create", "--email", "a@b.test", "--name", "A", "--role", "king"), USAGE, "king"),
    (("users", "create", "--email", "a@b.test", "--name", "A", "--org", "org_x"), FAILED, "org_x"),
    (("users", "reset-password", "a@b.test"), FAILED, "a@b.test"),
    (("users", "disable", "a@b.test"), FAILED, "a@b.test"),
    (("orgs", "create", "--name", " "), USAGE, "--name"),
    (("orgs", "create", "--name", "A", "--plan", "gold"), USAGE, "gold"),
    (("orgs", "set-plan", "org_x", "free"), FAILED, "org_x"),
]


@pytest.mark.parametrize(("arguments", "code", "word"), REFUSED)
async def test_what_cannot_be_is_refused(
    program: Program, arguments: tuple[str, ...], code: int, word: str
) -> None:
    ran = esign(*arguments, "--config", program.config)
    assert (ran.code, ran.out) == (code, "") and word in ran.err


async def test_nobody_is_a_member_twice(program: Program) -> None:
    await create(program, "owner")
    ran = await ask(program, "users", "create", "--email", "OWNER@example.test", "--name", "O")
    assert (ran.code, ran.out) == (FAILED, "") and "member with this email address already exists" in ran.err

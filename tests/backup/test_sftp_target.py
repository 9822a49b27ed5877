"""Backups in a folder of another machine: read back before they count, and from no server but the one that is known."""

import asyncio
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import asyncssh
import pytest

from esign.backup.backup_order import BackupOrder, TargetAccess
from esign.backup.encryption import Protection
from esign.backup.make_backup import PART, CannotBackUp
from esign.backup.sftp_target import SftpTarget
from esign.backup.stored_names import StoredName, write_time
from esign.config import BackupPlace
from tests.pki import NOW
from tests.ports import reserve_port

MINE = "0a1b2c3d"
NAME = str(StoredName(write_time(NOW), MINE))


@dataclass(frozen=True)
class Machine:
    """Another machine: its folder, and the order that leads there."""

    folder: Path
    order: BackupOrder


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    folder, port = tmp_path / "there", reserve_port()
    (folder / "copies").mkdir(parents=True)
    host, user = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
    user.write_private_key(tmp_path / "key")
    user.write_public_key(tmp_path / "key.pub")
    begun, loop = threading.Event(), asyncio.new_event_loop()

    async def begin() -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1",
            port,
            server_host_keys=[host],
            authorized_client_keys=str(tmp_path / "key.pub"),
            sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=str(folder).encode()),
        )

    async def end(server: asyncssh.SSHAcceptor) -> None:
        server.close()
        await server.wait_closed()

    def serve() -> None:
        server = loop.run_until_complete(begin())
        begun.set()
        loop.run_forever()
        loop.run_until_complete(end(server))
        loop.close()

    thread = threading.Thread(target=serve)
    thread.start()
    assert begun.wait(30)
    place = BackupPlace(
        kind="sftp", text="sftp://ada@there/copies", path="/copies", host="127.0.0.1", port=port, user="ada"
    )
    access = TargetAccess(
        key_file=str(tmp_path / "key"), host_key=host.export_public_key("openssh").decode().strip()
    )
    try:
        yield Machine(
            folder / "copies",
            BackupOrder("/none", None, None, place, access, MINE, NOW, Protection(), 1, 0, 0),
        )
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def test_files_are_stored_listed_and_deleted(machine: Machine, tmp_path: Path) -> None:
    target, content = SftpTarget(machine.order), bytes(range(256)) * 9000
    (tmp_path / "file").write_bytes(content)
    (machine.folder / "notes.txt").touch()
    (machine.folder / f".{NAME}{PART}").touch()
    (machine.folder / f".notes{PART}").touch()
    odd = machine.folder / os.fsdecode(b"\xff.txt")
    odd.touch()
    target.store(tmp_path / "file", NAME)
    assert target.list_files() == {NAME: len(content)}
    assert (machine.folder / NAME).read_bytes() == content
    assert {path.name for path in machine.folder.iterdir()} == {
        NAME,
        "notes.txt",
        f".notes{PART}",
        odd.name,
    }
    target.delete(NAME)
    assert target.list_files() == {}


def test_what_goes_wrong_is_said(machine: Machine, tmp_path: Path) -> None:
    order, other = machine.order, asyncssh.generate_private_key("ssh-ed25519")
    other.write_private_key(tmp_path / "other")
    changed = replace(order.access, host_key=other.export_public_key("openssh").decode())
    cases = [
        (replace(order, access=changed), "another host key than backup.sftp_host_key"),
        (
            replace(order, access=replace(order.access, key_file=str(tmp_path / "other"))),
            "does not take the key",
        ),
        (replace(order, place=order.place.model_copy(update={"path": "/none"})), "there is no such folder"),
        (replace(order, place=order.place.model_copy(update={"port": 1})), "sftp://ada@there/copies: "),
    ]
    for each, sentence in cases:
        with pytest.raises(CannotBackUp, match=sentence):
            SftpTarget(each).list_files()
    for access in (replace(order.access, host_key="x"), replace(order.access, key_file="/dev/null")):
        with pytest.raises(CannotBackUp, match="cannot be used"):
            SftpTarget(replace(order, access=access))

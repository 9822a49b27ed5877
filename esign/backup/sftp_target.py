"""A folder of another machine as a target, by SFTP. Only a server with the host key of the settings is spoken to."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

import asyncssh

from esign.backup.archive import PIECE
from esign.backup.backup_order import BackupOrder
from esign.backup.make_backup import PART, CannotBackUp
from esign.backup.stored_names import parse_name

CONNECT = 30.0  # seconds
ALIVE = 30.0  # seconds between questions whether the server is still there; three without an answer end it

Result = TypeVar("Result")


class SftpTarget:
    """A folder of another machine. A file has its name only once it was read back whole."""

    def __init__(self, order: BackupOrder) -> None:
        """Raise CannotBackUp if a key of the settings cannot be used."""
        self.place, self.label = order.place, order.label
        try:
            self._key = asyncssh.read_private_key(order.access.key_file)
        except (asyncssh.KeyImportError, OSError) as error:
            raise CannotBackUp(f"backup.sftp_key cannot be used: {error}") from None
        try:
            self._host = asyncssh.import_public_key(order.access.host_key)
        except asyncssh.KeyImportError as error:
            raise CannotBackUp(f"backup.sftp_host_key cannot be used: {error}") from None

    def list_files(self) -> dict[str, int]:
        """Return the scheduled backups in the folder."""
        return self._run(self._list_files)

    def store(self, file: Path, name: str) -> None:
        """Send a file, read it back, and give it its name."""
        self._run(lambda sftp: self._store(sftp, file, name))

    def delete(self, name: str) -> None:
        """Delete a file."""

        async def work(sftp: asyncssh.SFTPClient) -> None:
            await sftp.remove(self._name_path(name))

        self._run(work)

    def _name_path(self, name: str) -> str:
        return f"{self.place.path.rstrip('/')}/{name}"

    def _run(self, work: Callable[[asyncssh.SFTPClient], Awaitable[Result]]) -> Result:
        async def run() -> Result:
            async with self._connect() as sftp:
                return await work(sftp)

        try:
            return asyncio.run(run())
        except asyncssh.HostKeyNotVerifiable:
            said = "the server has another host key than backup.sftp_host_key; find out why before you change that"
        except asyncssh.PermissionDenied:
            said = "the server does not take the key of backup.sftp_key for this user"
        except asyncssh.SFTPNoSuchFile:
            said = "there is no such folder; make it"
        except asyncssh.SFTPPermissionDenied:
            said = "the user may not do that in the folder; let it read, write and delete there"
        except (asyncssh.Error, OSError, TimeoutError) as error:
            said = str(error) or "no answer within the time allowed"
        raise CannotBackUp(f"{self.place.text}: {said}")

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[asyncssh.SFTPClient]:
        async with (
            asyncssh.connect(
                self.place.host,
                self.place.port,
                username=self.place.user,
                client_keys=[self._key],
                known_hosts=([self._host], [], []),
                config=None,
                agent_path=None,
                preferred_auth="publickey",
                connect_timeout=CONNECT,
                login_timeout=CONNECT,
                keepalive_interval=ALIVE,
            ) as connection,
            # A foreign file may have a name that is not UTF-8.
            connection.start_sftp_client(path_errors="surrogateescape") as sftp,
        ):
            yield sftp

    async def _list_files(self, sftp: asyncssh.SFTPClient) -> dict[str, int]:
        return {
            str(entry.filename): entry.attrs.size or 0
            for entry in await sftp.readdir(self.place.path)
            if parse_name(str(entry.filename)) is not None
            and entry.attrs.type == asyncssh.FILEXFER_TYPE_REGULAR
        }

    async def _store(self, sftp: asyncssh.SFTPClient, file: Path, name: str) -> None:
        part = self._name_path(f".{name}{PART}")
        await self._remove_left_parts(sftp)
        try:
            sent = await send_file(sftp, file, part)
            if await hash_remote(sftp, part) != sent:
                raise CannotBackUp(
                    f"{self.place.text}: what was written there reads otherwise; check its disk"
                )
            await sftp.rename(part, self._name_path(name))  # does not replace a file
        except BaseException:
            with suppress(asyncssh.Error, OSError):
                await sftp.remove(part)
            raise

    async def _remove_left_parts(self, sftp: asyncssh.SFTPClient) -> None:
        """Delete what killed runs of this installation left there."""
        for entry in await sftp.readdir(self.place.path):
            found = str(entry.filename)
            name = parse_name(found.removeprefix(".").removesuffix(PART))
            if found.startswith(".") and found.endswith(PART) and name and name.label == self.label:
                with suppress(asyncssh.SFTPError):
                    await sftp.remove(self._name_path(found))


async def send_file(sftp: asyncssh.SFTPClient, file: Path, path: str) -> str:
    """Write a file there, and return its SHA-256 in hexadecimal."""
    digest = hashlib.sha256()
    with file.open("rb") as source:
        async with sftp.open(path, "wb", asyncssh.SFTPAttrs(permissions=0o600)) as target:
            while piece := source.read(PIECE):
                digest.update(piece)
                await target.write(piece)
    return digest.hexdigest()


async def hash_remote(sftp: asyncssh.SFTPClient, path: str) -> str:
    """Return the SHA-256 of a file there in hexadecimal."""
    digest = hashlib.sha256()
    async with sftp.open(path, "rb") as source:
        while piece := await source.read(PIECE):
            assert isinstance(piece, bytes)
            digest.update(piece)
    return digest.hexdigest()

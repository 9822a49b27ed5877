"""S3-compatible storage as a target. Its address is one of the settings, so it may be private.

A large file goes there in parts. The hash of each request is signed with it, so the storage refuses a part that changed
on its way, and nobody sees the file before all of it is there.
"""

import asyncio
import hashlib
import html
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from esign.backup.backup_order import BackupOrder
from esign.backup.bucket_signature import BucketKeys, encode_path, encode_query, sign_request
from esign.backup.make_backup import CannotBackUp
from esign.backup.stored_names import parse_name, write_time
from esign.net import DirectClient, RequestFailed
from esign.net.time_limits import TimeLimits
from esign.system.clock import Clock, SystemClock

PART = 16 * 2**20  # bytes
MOST_PARTS = 9_000  # of the 10,000 that a file may have
LIMITS = TimeLimits(whole=900.0, connect=20.0)  # a part may take so long: 18 KB/s
PAUSES = (1.0, 4.0, 15.0, 60.0)  # seconds before another try
MOST_ANSWER = 4 * 2**20
AGAIN = {408, 429, 500, 502, 503, 504}

SENTENCES = {
    "NoSuchBucket": "there is no bucket {bucket}; make it, or set backup.to to another",
    "InvalidAccessKeyId": "it does not know the access key; set backup.s3_access_key",
    "SignatureDoesNotMatch": "the secret key is wrong; set backup.s3_secret_key",
    "AccessDenied": "the access key may not do that in the bucket {bucket}; let it list, read, write and delete there",
    "AuthorizationHeaderMalformed": "the bucket is in another region; set backup.s3_region",
    "PermanentRedirect": "the bucket is at another address; set backup.s3_endpoint and backup.s3_region",
    "RequestTimeTooSkewed": "the clock of this machine is wrong; set it",
}

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class BucketAnswer:
    """A successful answer: the number of bytes and the tag that its head tells, and its body."""

    length: int
    tag: str
    body: str


class BucketTarget:
    """Files below a prefix of a bucket. Each call opens connections of its own."""

    def __init__(
        self, order: BackupOrder, clock: Clock | None = None, pauses: Sequence[float] = PAUSES
    ) -> None:
        access = order.access
        self.bucket, self.prefix, self.text = order.place.host, order.place.path, order.place.text
        self.label = order.label
        self._endpoint, self._keys = (
            access.endpoint,
            BucketKeys(access.access_key, access.secret_key, access.region),
        )
        self._clock, self._pauses = clock or SystemClock(), pauses

    def list_files(self) -> dict[str, int]:
        """Return the scheduled backups below the prefix."""
        return self._run(self._list_files)

    def store(self, file: Path, name: str) -> None:
        """Send a file, in parts if it is large, and compare the size of what arrived."""
        size = file.stat().st_size
        self._run(lambda client: self._store(client, file, size, name))

    def delete(self, name: str) -> None:
        """Delete a file; one that is gone already is no failure."""

        async def work(client: DirectClient) -> None:
            await self._ask(client, "DELETE", self._name_key(name))

        self._run(work)

    def _run(self, work: Callable[[DirectClient], Awaitable[Result]]) -> Result:
        async def run() -> Result:
            client = DirectClient()
            try:
                return await work(client)
            finally:
                await client.close()

        return asyncio.run(run())

    def _name_key(self, name: str) -> str:
        return f"{self.prefix}/{name}" if self.prefix else name

    async def _list_files(self, client: DirectClient) -> dict[str, int]:
        start = self._name_key("")
        found: dict[str, int] = {}
        query = [("list-type", "2"), ("prefix", start), ("delimiter", "/")]
        more: list[tuple[str, str]] = []
        tokens: set[str] = set()
        while True:
            answer = await self._ask(client, "GET", "", query=[*query, *more])
            for entry in re.findall(r"<Contents>(.*?)</Contents>", answer.body, re.DOTALL):
                name = find_element(entry, "Key").removeprefix(start)
                if parse_name(name) is not None:
                    found[name] = self._read_number(find_element(entry, "Size"))
            token = find_element(answer.body, "NextContinuationToken")
            if not token:
                return found
            if token in tokens:
                raise CannotBackUp(f"{self.text}: the storage lists its files without an end")
            tokens.add(token)
            more = [("continuation-token", token)]

    def _read_number(self, text: str) -> int:
        """Return a number of bytes, 0 for none. Raise CannotBackUp."""
        if text and not re.fullmatch("[0-9]{1,20}", text):
            raise CannotBackUp(f"{self.text}: the storage answers {text[:40]!r} where a size belongs")
        return int(text or 0)

    async def _store(self, client: DirectClient, file: Path, size: int, name: str) -> None:
        key = self._name_key(name)
        if size <= PART:
            await self._ask(client, "PUT", key, body=await asyncio.to_thread(file.read_bytes))
        else:
            await self._give_up_left(client)
            await self._store_parts(client, file, key, size)
        if (await self._ask(client, "HEAD", key)).length != size:
            raise CannotBackUp(f"{self.text}: what arrived there has another size; try again")

    async def _store_parts(self, client: DirectClient, file: Path, key: str, size: int) -> None:
        begun = await self._ask(client, "POST", key, query=[("uploads", "")], body=b"")
        upload = find_element(begun.body, "UploadId")
        length = max(PART, -(-size // MOST_PARTS))
        tags = []
        try:
            for number, offset in enumerate(range(0, size, length), 1):
                query = [("partNumber", str(number)), ("uploadId", upload)]
                part = await asyncio.to_thread(read_part, file, offset, length)
                tags.append((await self._ask(client, "PUT", key, query=query, body=part)).tag)
            listed = "".join(
                f"<Part><PartNumber>{number}</PartNumber><ETag>{html.escape(tag)}</ETag></Part>"
                for number, tag in enumerate(tags, 1)
            )
            body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
            await self._ask(client, "POST", key, query=[("uploadId", upload)], body=body)
        except BaseException:
            with suppress(CannotBackUp):
                await self._ask(client, "DELETE", key, query=[("uploadId", upload)], tries=1)
            raise

    async def _give_up_left(self, client: DirectClient) -> None:
        """Give up what killed runs left there unfinished, which takes room and is not listed as a file."""
        start = self._name_key("")
        answer = await self._ask(client, "GET", "", query=[("uploads", ""), ("prefix", start)])
        for entry in re.findall(r"<Upload>(.*?)</Upload>", answer.body, re.DOTALL):
            key, upload = find_element(entry, "Key"), find_element(entry, "UploadId")
            name = parse_name(key.removeprefix(start))
            if name is not None and name.label == self.label and key.startswith(start):
                with suppress(CannotBackUp):
                    await self._ask(client, "DELETE", key, query=[("uploadId", upload)])

    async def _ask(
        self,
        client: DirectClient,
        method: str,
        key: str,
        *,
        query: Sequence[tuple[str, str]] = (),
        body: bytes | None = None,
        tries: int | None = None,
    ) -> BucketAnswer:
        """Return a successful answer; what may pass is tried again. Raise CannotBackUp."""
        pauses = self._pauses[: len(self._pauses) if tries is None else tries - 1]
        for pause in (*pauses, None):
            try:
                status, headers, content = await self._send(client, method, key, query, body)
            except RequestFailed as failure:
                said, passes = str(failure).partition(": ")[2], True
            else:
                text = content.decode("utf-8", "replace")
                code = find_element(text, "Code") if "<Error>" in text else ""
                if status < 300 and not code:
                    length = self._read_number(headers.get("content-length", ""))
                    return BucketAnswer(length, headers.get("etag", ""), text)
                said = self._explain(status, code, text)
                passes = status in AGAIN or code in ("InternalError", "SlowDown", "RequestTimeout")
            if pause is None or not passes:
                raise CannotBackUp(f"{self.text}: {said}")
            await asyncio.sleep(pause)
        raise AssertionError("the last try ends the loop")

    async def _send(
        self,
        client: DirectClient,
        method: str,
        key: str,
        query: Sequence[tuple[str, str]],
        body: bytes | None,
    ) -> tuple[int, dict[str, str], bytes]:
        path = encode_path(f"/{self.bucket}/{key}" if key else f"/{self.bucket}")
        url = f"{self._endpoint}{path}" + (f"?{encode_query(query)}" if query else "")
        parts = urlsplit(url)
        body_hash = hashlib.sha256(body or b"").hexdigest()
        time = write_time(self._clock.now())
        headers = {"host": parts.netloc, "x-amz-content-sha256": body_hash, "x-amz-date": time}
        signed = sign_request(self._keys, method, url, headers, body_hash, time)
        sent = {**headers, "authorization": signed}
        if body is not None:
            sent["content-type"] = "application/octet-stream"
        status, got, content = await client.send(method, url, body, sent, LIMITS, most=MOST_ANSWER)
        return status, dict(got), content

    def _explain(self, status: int, code: str, text: str) -> str:
        """Return what is wrong, in words; what the storage says where there are none for it."""
        if code in SENTENCES:
            return SENTENCES[code].format(bucket=self.bucket)
        said = find_element(text, "Message")
        words = " ".join(filter(None, (code, said)))[:200]
        return f"the storage answers {status}{f' ({words})' if words else ''}"


def read_part(file: Path, offset: int, size: int) -> bytes:
    """Return a part of a file."""
    with file.open("rb") as opened:
        opened.seek(offset)
        return opened.read(size)


def find_element(text: str, name: str) -> str:
    """Return the text of the first element of this name, "" if there is none.

    The answers are flat, and a name that is read wrongly is no scheduled backup, so no parser of XML is needed.
    """
    found = re.search(rf"<{name}>([^<]*)</{name}>", text)
    return html.unescape(found[1]) if found else ""

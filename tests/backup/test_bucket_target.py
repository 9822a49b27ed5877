"""Backups in S3-compatible storage: signed as its definition says, in parts, tried again, and given up cleanly."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from esign.backup.backup_order import BackupOrder, TargetAccess
from esign.backup.bucket_signature import BucketKeys, encode_query, sign_request
from esign.backup.bucket_target import PART, BucketTarget
from esign.backup.encryption import Protection
from esign.backup.make_backup import CannotBackUp
from esign.backup.stored_names import StoredName, write_time
from esign.config import BackupPlace
from tests.backup.bucket_server import ACCESS, BUCKET, REGION, SECRET, Storage, serve_bucket
from tests.pki import NOW

MINE = "0a1b2c3d"
NAME = str(StoredName(write_time(NOW), MINE))
EMPTY = hashlib.sha256(b"").hexdigest()
# The examples of "Authenticating Requests: Using the Authorization Header" in the manual of Amazon S3.
EXAMPLE = BucketKeys("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1")
HOST, TIME = "examplebucket.s3.amazonaws.com", "20130524T000000Z"


@pytest.mark.parametrize(
    ("method", "rest", "more", "body", "signature"),
    [
        ("GET", "/test.txt", {"range": "bytes=0-9"}, b"",
         "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"),
        ("PUT", "/test%24file.text",
         {"date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"},
         b"Welcome to Amazon S3.", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"),
        ("GET", "/?lifecycle=", {}, b"", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ("GET", f"/?{encode_query([('prefix', 'J'), ('max-keys', '2')])}", {}, b"",
         "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ],
)  # fmt: skip
def test_signatures_are_those_of_the_manual(
    method: str, rest: str, more: dict[str, str], body: bytes, signature: str
) -> None:
    body_hash = hashlib.sha256(body).hexdigest()
    headers = {"host": HOST, "x-amz-content-sha256": body_hash, "x-amz-date": TIME, **more}
    made = sign_request(EXAMPLE, method, f"https://{HOST}{rest}", headers, body_hash, TIME)
    assert made.endswith(f"Signature={signature}")


@pytest.fixture
def storage() -> Iterator[Storage]:
    with serve_bucket() as served:
        yield served


def make_order(
    storage: Storage, bucket: str = BUCKET, secret: str = SECRET, access: str = ACCESS
) -> BackupOrder:
    return BackupOrder(
        data="/none",
        configuration=None,
        key_file=None,
        place=BackupPlace(kind="s3", text=f"s3://{bucket}/a b", path="a b", host=bucket),
        access=TargetAccess(storage.endpoint, REGION, access, secret),
        label=MINE,
        at=NOW,
        protection=Protection(),
        keep=1,
        full_every=0,
        spare=0,
    )


def a_target(storage: Storage, **changes: str) -> BucketTarget:
    return BucketTarget(make_order(storage, **changes), pauses=(0.0, 0.0))


def test_files_are_stored_listed_and_deleted(storage: Storage, tmp_path: Path) -> None:
    target, file = a_target(storage), tmp_path / "file"
    file.write_bytes(b"small")
    storage.files |= {"a b/notes.txt": b"", f"a b/sub/{NAME}": b"", NAME: b""}
    target.store(file, NAME)
    other = str(StoredName(write_time(NOW), MINE, write_time(NOW - 10_000)))
    target.store(file, other)
    assert target.list_files() == {NAME: 5, other: 5}
    target.delete(NAME)
    target.delete(NAME)
    assert target.list_files() == {other: 5} and "a b/notes.txt" in storage.files


def test_a_large_file_goes_in_parts_over_a_line_that_breaks(storage: Storage, tmp_path: Path) -> None:
    content = os.urandom(PART + 1000)
    (tmp_path / "file").write_bytes(content)
    storage.uploads = {"left": (f"a b/{NAME}", {}), "theirs": ("a b/other", {})}
    storage.lose, storage.fail = 1, [("PUT", 503), ("POST", 500)]
    a_target(storage).store(tmp_path / "file", NAME)
    assert storage.files == {f"a b/{NAME}": content}
    assert storage.uploads == {"theirs": ("a b/other", {})} and storage.lose == 0 and not storage.fail


def test_a_failure_is_said_in_words_and_leaves_nothing(storage: Storage, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(PART + 1))
    storage.refuse_parts = True
    with pytest.raises(CannotBackUp, match="may not do that in the bucket copies"):
        a_target(storage).store(tmp_path / "file", NAME)
    assert storage.files == {} and storage.uploads == {}
    cases = [
        (a_target(storage, bucket="none"), "there is no bucket none; make it"),
        (a_target(storage, secret="wrong"), "the secret key is wrong"),
        (a_target(storage, access="wrong"), "it does not know the access key"),
    ]
    for target, sentence in cases:
        with pytest.raises(CannotBackUp, match=sentence):
            target.list_files()
    storage.fail = [("GET", 503)] * 3
    with pytest.raises(CannotBackUp, match="the storage answers 503"):
        a_target(storage).list_files()
    order = make_order(storage)
    gone = replace(order, access=replace(order.access, endpoint="http://127.0.0.1:1"))
    with pytest.raises(CannotBackUp, match="the host refuses connections"):
        BucketTarget(gone, pauses=()).list_files()


def test_odd_answers_are_said_in_words(storage: Storage) -> None:
    storage.files[f"a b/{NAME}"] = b"x"
    storage.odd_size = "1e3"
    with pytest.raises(CannotBackUp, match="answers '1e3' where a size belongs"):
        a_target(storage).list_files()
    storage.odd_size, storage.endless = "", True
    with pytest.raises(CannotBackUp, match="lists its files without an end"):
        a_target(storage).list_files()

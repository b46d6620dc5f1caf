"""Raw files in a directory and in a bucket of a real S3 server."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import obstore
import pytest

from mitigauge.core.errors import InvalidInput, NotFound, NotReady
from mitigauge.core.settings import REPOSITORY, Settings
from mitigauge.storage.files.blobs import CHECKED_FIRST_BYTES, BlobStore, DamagedBlob, blob_store

CONTENT = bytes(range(256)) * 9000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """Address of an S3 server with the bucket ``raw``."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = REPOSITORY / ".mitigauge/tools/s3/bin/moto_server"
    address = f"http://127.0.0.1:{port}"
    bucket = urllib.request.Request(f"{address}/raw", method="PUT")
    server = subprocess.Popen(
        [program, "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while server.poll() is None and time.monotonic() < deadline:
            with suppress(OSError):
                urllib.request.urlopen(bucket, timeout=10).close()
                break
            time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture
def keys(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the environment says of the server."""
    for name, value in {
        "ENDPOINT_URL": s3, "ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret",
        "REGION": "us-east-1",
    }.items():  # fmt: skip
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.fixture(params=["directory", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """A store of either kind, empty but for what other tests put there."""
    if request.param == "directory":
        return blob_store(Settings(home=tmp_path))
    request.getfixturevalue("keys")
    # Stores are kept by address; a prefix of its own is one of the test's own.
    return blob_store(Settings(home=tmp_path, blobs_url=f"s3://raw/{tmp_path.name}"))


def test_what_was_stored_comes_back_in_pieces_and_whole(store: BlobStore) -> None:
    assert store.put(CONTENT) == DIGEST
    blob = store.get(DIGEST)
    pieces = list(blob.pieces)
    assert len(pieces) > 1
    assert b"".join(pieces) == CONTENT
    assert blob.size == len(CONTENT)
    assert store.read(DIGEST) == CONTENT


def test_storing_again_also_at_once_changes_nothing(store: BlobStore) -> None:
    threads = [threading.Thread(target=store.put, args=(CONTENT,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.put(CONTENT) == DIGEST
    assert store.read(DIGEST) == CONTENT
    assert store.read(store.put(b"")) == b""


@pytest.mark.parametrize("digest", ["0" * 64, "../../etc/passwd", "", DIGEST.upper(), "é" * 64])
def test_what_is_not_there_is_not_found(store: BlobStore, digest: str) -> None:
    with pytest.raises(NotFound, match="there is no blob"):
        store.get(digest)


def test_a_directory_is_laid_out_by_the_first_two_digits(tmp_path: Path) -> None:
    blob_store(Settings(home=tmp_path)).put(CONTENT)
    assert (tmp_path / "blobs" / DIGEST[:2] / DIGEST).read_bytes() == CONTENT


@pytest.mark.parametrize("url", ["http://x/y", "s3://", "s3://UPPER/x", "s3://b/?x", "/a/path"])
def test_an_address_that_is_no_bucket_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidInput, match="is no s3://BUCKET/PREFIX") as refused:
        blob_store(Settings(home=tmp_path, blobs_url=url))
    assert "AWS_ENDPOINT_URL" in refused.value.hint


def test_a_bucket_that_is_not_there_and_a_server_that_is_away_are_named(
    tmp_path: Path, keys: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = blob_store(Settings(home=tmp_path, blobs_url="s3://no-such-bucket/raw"))
    with pytest.raises(NotReady, match=r"s3://no-such-bucket/raw cannot be used: .*NoSuchBucket"):
        missing.put(CONTENT)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    away = blob_store(Settings(home=tmp_path, blobs_url="s3://raw/away"))
    with pytest.raises(NotReady, match="s3://raw/away cannot be used"):
        away.put(CONTENT)


LARGE = bytes(range(256)) * (CHECKED_FIRST_BYTES // 256 + 9000)
LARGE_DIGEST = hashlib.sha256(LARGE).hexdigest()


def put_in_place_of(store: BlobStore, digest: str, content: bytes) -> None:
    """What a failing disk, or somebody with access to it, does to a stored file."""
    obstore.put(store.store, f"{digest[:2]}/{digest}", content, mode="overwrite")


def flipped(content: bytes) -> bytes:
    """The same length, one bit in its middle other than it was."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("damaged", [CONTENT[:-1], flipped(CONTENT), b"", CONTENT + b"x"])
def test_of_a_damaged_file_no_byte_is_given_out(store: BlobStore, damaged: bytes) -> None:
    store.put(CONTENT)
    put_in_place_of(store, DIGEST, damaged)
    with pytest.raises(DamagedBlob, match=DIGEST) as said:
        store.get(DIGEST)
    assert store.name in said.value.message
    assert said.value.hint
    with pytest.raises(DamagedBlob):
        store.read(DIGEST)


@pytest.mark.parametrize("damaged", [LARGE[:-1], flipped(LARGE), LARGE[:-1] + b"x"])
def test_a_large_damaged_file_is_never_given_out_to_its_end(
    store: BlobStore, damaged: bytes
) -> None:
    store.put(LARGE)
    put_in_place_of(store, LARGE_DIGEST, damaged)
    blob = store.get(LARGE_DIGEST)
    given = 0
    with pytest.raises(DamagedBlob, match=LARGE_DIGEST):  # noqa: PT012
        for piece in blob.pieces:
            given += len(piece)
    assert 0 < given < blob.size
    with pytest.raises(DamagedBlob):
        store.read(LARGE_DIGEST)


def test_a_large_file_that_is_whole_comes_back_in_pieces(store: BlobStore) -> None:
    store.put(LARGE)
    pieces = list(store.get(LARGE_DIGEST).pieces)
    assert len(pieces) > 1
    assert b"".join(pieces) == LARGE == store.read(LARGE_DIGEST)


@pytest.mark.parametrize("damaged", [CONTENT[:-1], flipped(CONTENT), b""])
def test_storing_a_damaged_file_again_mends_it(store: BlobStore, damaged: bytes) -> None:
    store.put(CONTENT)
    put_in_place_of(store, DIGEST, damaged)
    assert store.put(CONTENT) == DIGEST
    assert store.read(DIGEST) == CONTENT


def test_a_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = blob_store(Settings(home=tmp_path))
    store.put(b"another, so that the directory is there")
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def noting_fsync(descriptor: int) -> None:
        done.append(f"fsync {os.readlink(f'/proc/self/fd/{descriptor}')}")
        fsync(descriptor)

    def noting_replace(old: Any, new: Any) -> None:
        done.append(f"name {new}")
        replace(old, new)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(os, "replace", noting_replace)
    store.put(CONTENT)
    path = tmp_path / "blobs" / DIGEST[:2] / DIGEST
    named = done.index(f"name {path}")
    assert any(line.startswith(f"fsync {path.parent}/.") for line in done[:named])
    assert f"fsync {path.parent}" in done[named:]


STORE_FOR_EVER = """
import sys
from pathlib import Path
from mitigauge.storage.files.blobs import blob_store
from mitigauge.core.settings import Settings
store = blob_store(Settings(home=Path(sys.argv[1])))
print("begins", flush=True)
number = 0
while True:
    store.put(number.to_bytes(8) * (1 << 19))
    number += 1
"""


def test_killing_a_process_that_stores_leaves_no_torn_file_under_a_name(tmp_path: Path) -> None:
    torn = 0
    # On a busy machine a kill seldom hits a write.
    for attempt in range(80):
        if torn and attempt >= 8:
            break
        home = tmp_path / str(attempt)
        process = subprocess.Popen(
            [sys.executable, "-c", STORE_FOR_EVER, home],
            cwd=REPOSITORY, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout
        process.stdout.readline()
        time.sleep(0.02 + attempt % 8 * 0.013)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        store = blob_store(Settings(home=home))
        for page in store.listed():
            for stored in page:
                store.read(stored.digest)
        torn += len(list(store.leftovers()))
    assert torn, "no kill came in the middle of a write"


FILL = """
import sys
from pathlib import Path
from mitigauge.storage.files.blobs import blob_store
from mitigauge.core.errors import NotReady
from mitigauge.core.settings import Settings
store = blob_store(Settings(home=Path(sys.argv[1])))
kept = store.put(b"small")
try:
    store.put(bytes(range(256)) * 8000)
except NotReady as error:
    print(error)
print(store.read(kept).decode(), [stored.size for page in store.listed() for stored in page],
      len(list(store.leftovers())))
"""


def test_a_full_disk_is_said_as_that_and_leaves_nothing_behind(tmp_path: Path) -> None:
    # A small file system of the process's own, which ends with it.
    script = 'mount -t tmpfs -o size=1m none "$1" && exec "$2" -c "$3" "$1"'
    unshare = ["unshare", "--mount"] + (["--user", "--map-root-user"] if os.geteuid() else [])
    done = subprocess.run(
        [*unshare, "sh", "-c", script, "sh", tmp_path, sys.executable, FILL],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no file system of one's own here: {done.stderr.strip()}")
    assert "no space left" in done.stdout, done
    assert f"{tmp_path}/blobs" in done.stdout
    assert "bytes are free" in done.stdout
    assert "mitigauge db prune" in done.stdout
    assert done.stdout.splitlines()[-1] == "small [5] 0"


def test_a_write_that_finds_no_room_names_place_and_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = blob_store(Settings(home=tmp_path))

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotReady, match=r"no space left .*blobs.* [\d,]+ bytes are free"):
        store.put(CONTENT)
    monkeypatch.undo()
    assert not list(store.leftovers())
    with pytest.raises(NotFound):
        store.get(DIGEST)


def test_what_is_stored_is_listed_and_removed_unless_it_was_stored_again(store: BlobStore) -> None:
    digests = {store.put(f"blob {n}".encode()) for n in range(5)}
    listed = {stored.digest: stored for page in store.listed() for stored in page}
    assert listed.keys() == digests
    one, other, *_ = listed.values()
    assert abs(one.modified - datetime.now(UTC)) < timedelta(minutes=5)
    assert one.size == len("blob 0")
    assert store.remove(one)
    assert not store.remove(one)
    content = store.read(other.digest)
    time.sleep(1.1)  # an S3 server gives whole seconds
    store.put(content)
    assert not store.remove(other)
    assert store.read(other.digest) == content
    with pytest.raises(NotFound):
        store.get(one.digest)


def test_files_that_are_no_blobs_are_neither_listed_nor_leftovers(tmp_path: Path) -> None:
    store = blob_store(Settings(home=tmp_path))
    folder = tmp_path / "blobs" / DIGEST[:2]
    folder.mkdir()
    (folder / "README").write_text("by hand")
    (folder / f"{DIGEST}#1").write_text("torn")
    (tmp_path / "blobs" / "elsewhere").mkdir()
    assert [stored for page in store.listed() for stored in page] == []
    assert [path.name for path in store.leftovers()] == [f"{DIGEST}#1"]

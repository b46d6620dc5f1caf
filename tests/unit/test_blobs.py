"""Raw files in a directory and in a bucket of a real S3 server."""

from __future__ import annotations

import hashlib
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from mitigauge.blobs import BlobStore, blob_store
from mitigauge.errors import InvalidInput, NotFound, NotReady
from mitigauge.settings import REPOSITORY, Settings

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

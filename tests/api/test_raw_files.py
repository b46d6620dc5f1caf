"""Raw files over HTTP: whole, or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from mitigauge.core.settings import get_settings
from mitigauge.storage.files.blobs import CHECKED_FIRST_BYTES, blob_store


def stored(content: bytes) -> tuple[str, Path]:
    """The file's digest and where it lies."""
    digest = blob_store(get_settings()).put(content)
    return digest, get_settings().blobs / digest[:2] / digest


@pytest.mark.parametrize("size", [0, 1000, CHECKED_FIRST_BYTES + 3_000_000])
def test_a_raw_file_comes_as_it_was_stored(client: TestClient, size: int) -> None:
    digest, _ = stored(b"x" * size)
    answer = client.get(f"/api/blobs/{digest}")
    assert answer.status_code == 200
    assert hashlib.sha256(answer.content).hexdigest() == digest


def test_a_damaged_raw_file_is_refused_by_name(client: TestClient) -> None:
    digest, path = stored(b"what a tool printed")
    path.write_bytes(b"what a fool printed")
    answer = client.get(f"/api/blobs/{digest}")
    assert answer.status_code == 500
    assert digest in answer.text
    assert "is damaged" in answer.text
    assert "backup" in answer.text


def test_a_large_damaged_raw_file_never_comes_whole(client: TestClient) -> None:
    digest, path = stored(b"x" * (CHECKED_FIRST_BYTES + 3_000_000))
    with path.open("r+b") as file:
        file.seek(1000)
        file.write(b"y")
    answer = client.get(f"/api/blobs/{digest}")
    assert 0 < len(answer.content) < int(answer.headers["Content-Length"])

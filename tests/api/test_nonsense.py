"""Strangers' nonsense: answered or hung up on, and a line in the log at the most."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.api.test_serve import answers, served
from tests.fuzz.requests import nonsense
from tests.serving import heard

SEED = int(os.environ.get("MITIGAUGE_SEED", "7"))
MOST = 400
PATIENCE_S = 3.0


def said_to(port: int, words: bytes) -> bytes:
    """What comes back for *words*; half a request is given up after a while."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        # It may hang up before all is said.
        with suppress(OSError):
            connection.sendall(words)
        return heard(connection)


@pytest.fixture(params=[False, True], ids=["token-needed", "anonymous-read"])
def log(
    request: pytest.FixtureRequest, database_url: str, engine: Engine, home: Path,
    monkeypatch: pytest.MonkeyPatch, experiment_id: int,
) -> Iterator[tuple[int, Path]]:  # fmt: skip
    monkeypatch.setenv("MITIGAUGE_ANONYMOUS_READ", str(request.param).lower())
    with served(database_url, home) as (_, port, log):
        yield port, log


@pytest.mark.long("a served application of its own, and hundreds of requests")
def test_nonsense_of_strangers_is_a_line_in_the_log_at_most(log: tuple[int, Path]) -> None:
    port, file = log
    before = len(file.read_text().splitlines())
    requests = list(nonsense(SEED, MOST))
    with ThreadPoolExecutor(24) as many:
        said = list(many.map(lambda words: said_to(port, words), requests))
    pairs = zip(requests, said, strict=True)
    assert [words[:300] for words, answer in pairs if b" 500 " in answer[:20]] == []
    # Most of it was answered: what is hung up on at once tries nothing.
    assert sum(answer.startswith(b"HTTP/1.1 ") for answer in said) > MOST / 2
    assert answers(port)
    lines = file.read_text().splitlines()[before:]
    assert [line for line in lines if "Traceback" in line or line.startswith(" ")] == []
    assert len(lines) <= len(requests)
    # Bytes of strangers reach a terminal that shows the log as text alone.
    assert all(line.isprintable() for line in lines)

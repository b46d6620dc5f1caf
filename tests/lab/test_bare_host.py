"""README's "On hosts of yours" followed to the letter, on a cloud image that Debian's tool made."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import get_settings
from tests.lab import readme_reader
from tests.lab.bare_host import running
from tests.lab.bare_image import bare_image
from tests.lab.readme_reader import Reader, differences, moved_in, require_effective

pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    """A checkout and a machine of its own.

    Not below pytest's own folder: another session closes that to the database server's user.
    """
    image = bare_image(get_settings().home / "bare-images")
    with (
        tempfile.TemporaryDirectory(prefix="mgbare-") as name,
        running(image, Path(name) / "machine") as host,
        moved_in(Path(name) / "mitigauge", host) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def before(reader: Reader) -> dict[str, Any]:
    return readme_reader.look(reader)


@pytest.fixture(scope="module")
def report(reader: Reader, before: dict[str, Any]) -> str:
    return readme_reader.measure(reader)


def test_the_host_takes_part_in_an_experiment(reader: Reader, report: str) -> None:
    assert "nx-syscall" in report or "syscall basic" in report
    assert "emulated" in report.lower()
    require_effective(reader)


@pytest.fixture(scope="module")
def after(reader: Reader, report: str) -> dict[str, Any]:
    return readme_reader.put_back(reader)


def test_a_difference_that_the_page_does_not_name_is_found() -> None:
    was = {"file": {"/etc/fstab": [1], "/var/log/x": [1]}, "package": {"perf": "1"}}
    now = {"file": {"/etc/fstab": [2], "/opt/new": [1]}, "package": {}}
    assert differences(was, now) == [
        "file /etc/fstab: [1] → [2]",
        "file /opt/new: None → [1]",
        "package perf: 1 → None",
    ]


def test_nothing_differs_but_what_the_page_names(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert len(before["file"]) > 10_000
    found = differences(before, after)
    assert not found, "\n".join(found)

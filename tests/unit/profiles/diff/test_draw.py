"""A diff drawn by the tools that everyone knows; the drawing itself where one is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mitigauge.analysis.profiles.diff import draw
from mitigauge.core.errors import InvalidInput, NotFound

PARENT = np.array([-1, 0, 1, 1, 0], np.int32)
NAMES = ["all", "thread;\n1", "f", "<script>", "g"]
A = np.array([10.0, 8.0, 5.0, 0.0, 2.0])
B = np.array([14.5, 12.0, 5.0, 4.25, 2.5])


def test_stacks_have_their_own_costs_on_both_sides_and_the_root_none() -> None:
    assert list(draw.folded_pairs(PARENT, NAMES, A, B)) == [
        "thread::1 3000 2750\n",
        "thread::1;f 5000 5000\n",
        "thread::1;<script> 0 4250\n",
        "g 2000 2500\n",
    ]


def tool(path: Path, name: str, text: str) -> None:
    (path / name).write_text(text)
    (path / name).chmod(0o755)


def drawn() -> bytes:
    return draw.drawn(PARENT, NAMES, A, B, title="off & on", unit="ns/op")


def test_without_a_tool_it_says_which_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert draw.installed() is None
    with pytest.raises(NotFound, match="neither inferno-flamegraph nor"):
        drawn()


def test_what_a_tool_refuses_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tmp_path, "flamegraph.pl", "#!/bin/sh\ncat > /dev/null\necho no stacks >&2\nexit 2\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    if draw.installed() != "flamegraph.pl":
        pytest.skip("inferno is installed system-wide")
    with pytest.raises(InvalidInput, match="drew nothing: no stacks"):
        drawn()


@pytest.mark.skipif(draw.installed() is None, reason="neither inferno nor FlameGraph is here")
def test_a_real_tool_draws_every_frame_and_no_markup_of_a_name() -> None:
    svg = drawn().decode()
    assert "off &amp; on" in svg
    assert "&lt;script&gt;" in svg
    assert "<title>g (" in svg

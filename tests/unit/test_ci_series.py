"""What a workflow does with a revision: only patches that somebody looked at are built."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY

SCRIPT = REPOSITORY / "pipelines" / "ci" / "series"
DIGEST = "0123456789ab"


def run(tmp_path: Path, state: str, *digest: str) -> tuple[int, list[str], str]:
    """Exit code, what was called, and what was said, over a revision in that *state*."""
    command = tmp_path / "mitigauge"
    command.write_text(f"""#!/bin/sh
echo "$*" >>{tmp_path}/calls
case "$1 $2" in
"series add") echo '{{"name": "toys", "revisions": [{{"label": "v2", "message_id": "a@b",
  "patches": []}}, {{"label": "v3", "message_id": "evil@b", "patches": []}}]}}' ;;
"series show") echo '{{"experiment_id": 7, "state": "{state}"}}' ;;
esac
""")
    command.chmod(0o755)
    checkout = tmp_path / "checkout"
    (checkout / "pipelines").mkdir(parents=True)
    (checkout / "pipelines" / "ci").symlink_to(SCRIPT.parent)
    done = subprocess.run(
        [checkout / "pipelines" / "ci" / "series", "a@b", "http://x/y", "vmscape", *digest],
        cwd=checkout, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "MITIGAUGE": str(command)},
    )  # fmt: skip
    return done.returncode, (tmp_path / "calls").read_text().splitlines(), done.stderr


def test_what_nobody_looked_at_is_shown_and_not_started(tmp_path: Path) -> None:
    code, calls, said = run(tmp_path, "waiting")
    assert code == 1
    assert calls[-1] == "series show toys v2 --diff"
    assert not [call for call in calls if "approve" in call or "start" in call]
    assert "nobody approved toys v2" in said


def test_the_patches_of_a_digest_are_approved_and_started(tmp_path: Path) -> None:
    code, calls, _ = run(tmp_path, "waiting", DIGEST)
    assert code == 0
    assert calls[2:4] == [f"series approve -- toys v2 {DIGEST}", "series start toys v2"]
    # What else came into the thread is added, and no more.
    assert not [call for call in calls if "v3" in call]


@pytest.mark.parametrize("digest", [[], [DIGEST]])
def test_what_was_approved_before_is_started(tmp_path: Path, digest: list[str]) -> None:
    code, calls, _ = run(tmp_path, "approved", *digest)
    assert code == 0
    assert "series start toys v2" in calls
    assert not [call for call in calls if "approve" in call]

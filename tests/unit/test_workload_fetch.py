"""The fetching of a job's archive from a host that may answer anything."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleError

from mitigauge.core.settings import REPOSITORY
from tests.loading import load
from tests.measuring import measure

PLUGINS = REPOSITORY / "ansible/roles/workload/action_plugins"
fetch = load("ansible/roles/workload/action_plugins/workload_fetch.py")
ENDLESS = "import os\nwhile True: os.write(1, b'x' * (1 << 20))"


def answering(answer: Any) -> str:
    return f"print({json.dumps(answer)!r})"


def played(tmp_path: Path, module: str, limit_bytes: int = 1 << 20) -> str:
    """What a play prints whose host answers with *module* in workload_job's place."""
    library = tmp_path / "library"
    library.mkdir()
    (library / "workload_job").write_text(f"#!{sys.executable}\n{module}\n")
    task = {
        "workload_fetch": {"state": "polled", "job": "j", "directory": str(tmp_path / "into"),
                           "archive_limit_bytes": limit_bytes},
        "register": "answer",
    }  # fmt: skip
    play = [{"hosts": "localhost", "gather_facts": False, "connection": "local",
             "tasks": [task, {"debug": {"var": "answer.mitigauge"}}]}]  # fmt: skip
    (tmp_path / "play.yml").write_text(json.dumps(play))
    done = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "-i", "localhost,", "play.yml"],
        cwd=tmp_path,
        env={**os.environ, "ANSIBLE_LIBRARY": str(library), "ANSIBLE_ACTION_PLUGINS": str(PLUGINS),
             "ANSIBLE_LOCALHOST_WARNING": "0", "ANSIBLE_PYTHON_INTERPRETER": sys.executable},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


@pytest.mark.measured
def test_an_answer_without_end_fails_the_task_before_it_fills_the_memory(tmp_path: Path) -> None:
    taken = measure(played, tmp_path, ENDLESS)
    assert "the host's answer is larger than an archive of 1048576 bytes" in taken.answer
    assert taken.started_bytes < 512 << 20
    assert taken.processor_s < 60


def test_a_path_that_the_host_says_is_not_the_archives(tmp_path: Path) -> None:
    job = {"state": "finished", "archive": "/etc/passwd"}
    said = played(tmp_path, answering({"mitigauge": {"job": job}}))
    assert "finished" in said
    assert "/etc/passwd" not in said


def test_an_archive_that_comes_is_kept_and_named(tmp_path: Path) -> None:
    answer = {"mitigauge": {"job": {"state": "finished"}}, "archive": "YWJj"}
    assert str(tmp_path / "into/j.tar.gz") in played(tmp_path, answering(answer))
    assert (tmp_path / "into/j.tar.gz").read_bytes() == b"abc"


@pytest.mark.parametrize("packed", [5, ["YWJj"], "YW Jj", "YWJ", "ü", "YWJj" * 200])
def test_an_archive_that_is_none_or_too_large_is_refused(packed: object) -> None:
    with pytest.raises(AnsibleError, match="the job's archive is"):
        fetch.decoded(packed, 300)


@pytest.mark.parametrize("result", [{}, {"mitigauge": 5}, {"mitigauge": {"job": []}}])
def test_an_answer_about_no_job_is_refused(result: dict[str, Any]) -> None:
    with pytest.raises(AnsibleError, match="says nothing of the job"):
        fetch.job_of(result)


def test_an_archive_of_the_largest_size_is_taken() -> None:
    content = bytes(300)
    assert fetch.decoded(base64.b64encode(content).decode(), 300) == content

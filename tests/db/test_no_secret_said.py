"""Processes with secrets in their settings, which fail in many ways: none is ever said."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from tests import zygote
from tests.commands import COMMAND, Command

LIMIT_S = 120
METRICS, PROXY, PASSWORD, AWS, CLIENT = (f"canary-{name}-{'7' * 32}" for name in (
    "metrics", "proxy", "password", "aws", "client"))  # fmt: skip
SECRETS = (METRICS, PROXY, PASSWORD, AWS, CLIENT)
# Nothing listens there.
AWAY = "127.0.0.1:1"


@pytest.fixture
def environment(database_url: str, tmp_path: Path) -> dict[str, str]:
    """Settings with every secret that there is."""
    (tmp_path / "proxy-secret").write_text(PROXY)
    return {
        **Command(tmp_path, database_url).environment,
        "MITIGAUGE_METRICS_KEY": METRICS,
        "MITIGAUGE_PROXY_SECRET_FILE": str(tmp_path / "proxy-secret"),
        "MITIGAUGE_LOG_LEVEL": "debug",
        "MITIGAUGE_PUBLIC_URL": "http://127.0.0.1:8600",
        "MITIGAUGE_PROXY_ROLES": "kernel-team=submitter",
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": AWS,
        "AWS_REGION": "x",
    }


FAILURES = {
    "the database is away": {"MITIGAUGE_DATABASE_URL": f"postgresql://u:{PASSWORD}@{AWAY}/n"},
    "so it is with a password of its own": {
        "MITIGAUGE_DATABASE_URL": f"postgresql://u@{AWAY}/n",
        "MITIGAUGE_DATABASE_PASSWORD": PASSWORD,
    },
    "two passwords": {
        "MITIGAUGE_DATABASE_URL": f"postgresql://u:{PASSWORD}@{AWAY}/n",
        "MITIGAUGE_DATABASE_PASSWORD": PASSWORD,
    },
    "no URL": {"MITIGAUGE_DATABASE_URL": f"host=h password={PASSWORD}"},
    "a URL with a port that is none": {
        "MITIGAUGE_DATABASE_URL": f"postgresql://u:{PASSWORD}@h:port/n"
    },
    "a key with a blank": {"MITIGAUGE_METRICS_KEY": f"{METRICS} x"},
    "a level that is none": {"MITIGAUGE_LOG_LEVEL": "loud"},
    "a setting that went": {"MITIGAUGE_OIDC_CLIENT_SECRET": CLIENT},
    "a bucket that is away": {
        "MITIGAUGE_BLOBS_URL": "s3://bucket/prefix",
        "AWS_ENDPOINT_URL": f"http://{AWAY}",
    },
}


@pytest.mark.parametrize("failure", FAILURES)
def test_commands_that_fail_say_no_secret(environment: dict[str, str], failure: str) -> None:
    for words in (["db", "status"], ["db", "check"], ["token", "list"], ["worker"], ["serve"]):
        lasting = words[0] in ("worker", "serve")
        if lasting and failure not in ("no URL", "a key with a blank", "a level that is none",
                                       "two passwords", "a setting that went"):  # fmt: skip
            continue
        done = zygote.run(
            "mitigauge",
            [*words, *(["--port", "0"] if words == ["serve"] else [])],
            env=environment | FAILURES[failure],
            timeout=LIMIT_S,
        )
        said = done.stdout + done.stderr
        assert [secret for secret in SECRETS if secret in said] == [], words
        assert done.returncode in (0, 1), said
        assert done.returncode == 0 or "error: " in said, said


def said_first(process: subprocess.Popen[str]) -> str:
    """The first line of a process's stderr, once there is one."""
    assert process.stderr
    return process.stderr.readline()


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("command", [("worker",), ("serve", "--port", "0")])
def test_what_lasts_says_no_secret_from_begin_to_end(
    environment: dict[str, str], command: tuple[str, ...], form: str
) -> None:
    process = subprocess.Popen(
        [COMMAND, *command], cwd=REPOSITORY, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environment, **FAILURES["a bucket that is away"], "MITIGAUGE_LOG_FORMAT": form},
    )  # fmt: skip
    try:
        assert process.stdout
        process.stdout.readline()
        # A worker says that the bucket is away; a service says nothing until it is asked.
        first = "" if command[0] == "serve" else said_first(process)
        process.send_signal(signal.SIGTERM)
        out, rest = process.communicate(timeout=60)
        err = first + rest
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
    assert [secret for secret in SECRETS if secret in out + err] == []
    # Its lines are on stderr, each in its form.
    lines = err.splitlines()
    assert command[0] == "serve" or lines
    assert form == "text" or all(line.startswith('{"at": "') for line in lines), err

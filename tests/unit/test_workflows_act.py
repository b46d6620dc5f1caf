"""Our workflows as act runs them: real steps of ours on this machine, without GitHub.

Where act is not installed (`go install github.com/nektos/act@latest`), nothing is run.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY

ACT = shutil.which("act")
UPLOAD = "actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02"
KEEP = """\
name: keep
inputs: {name: {}, path: {required: true}, if-no-files-found: {}}
runs:
  using: composite
  steps: [{shell: bash, run: 'ls -d "$KEPT" || true', env: {KEPT: '${{ inputs.path }}'}}]
"""
pytestmark = pytest.mark.skipif(ACT is None, reason="act is absent")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with what is not committed yet, and GitHub's upload beside it as a step of ours."""
    root = tmp_path_factory.mktemp("act")
    clone, keep = root / "clone", root / "keep"
    git(root, "clone", "--quiet", "--shared", str(REPOSITORY), str(clone))
    for part in ("pipelines/ci", ".github/workflows"):
        shutil.copytree(REPOSITORY / part, clone / part, dirs_exist_ok=True)
    keep.mkdir()
    (keep / "action.yml").write_text(KEEP)
    git(keep, "init", "--quiet")
    git(keep, "add", "--all")
    git(keep, "-c", "user.email=a@example.org", "-c", "user.name=a", "commit", "--quiet", "-mx")
    return clone


def git(where: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=where, check=True, capture_output=True, timeout=120)


def run(
    checkout: Path, file: str, command: Path, **inputs: str
) -> subprocess.CompletedProcess[str]:
    words = [word for name, value in inputs.items() for word in ("--input", f"{name}={value}")]
    return subprocess.run(
        [str(ACT), "workflow_dispatch", "-W", f".github/workflows/{file}", *words,
         "-P", "self-hosted=-self-hosted", "--local-repository",
         f"{UPLOAD}={checkout.parent / 'keep'}", "--env", f"MITIGAUGE={command}"],
        cwd=checkout, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def a_command(tmp_path: Path, verdict: int) -> Path:
    """A command that answers as ours does, and notes how it was called."""
    file = tmp_path / "mitigauge"
    file.write_text(f"""#!/bin/sh
printf '%s|' "$@" >>{tmp_path}/calls; echo >>{tmp_path}/calls
case "$1 $2" in
"experiment submit") echo '{{"id": 7}}' ;;
"experiment wait") exit {verdict} ;;
"experiment report") echo "the report" ;;
"series add") echo '{{"name": "toys", "revisions": [{{"label": "v2", "message_id": "a@b",
  "patches": []}}]}}' ;;
"series show") echo '{{"experiment_id": 7, "state": "waiting"}}' ;;
esac
""")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(("verdict", "succeeds"), [(0, True), (3, False), (1, False)])
def test_a_check_is_as_the_verdicts_are(
    checkout: Path, tmp_path: Path, verdict: int, succeeds: bool
) -> None:
    done = run(checkout, "measure.yml", a_command(tmp_path, verdict), spec="lab-demo")
    assert (done.returncode == 0) is succeeds, done.stdout
    calls = (tmp_path / "calls").read_text()
    assert "experiment|submit|experiments/lab-demo.yml|--json|" in calls
    assert "experiment|wait|--by-verdict|7|" in calls
    assert "Job succeeded" in done.stdout if succeeds else "Job failed" in done.stdout


def test_a_revision_is_added_built_measured_and_answered(checkout: Path, tmp_path: Path) -> None:
    inputs = {"message_id": "a@b", "archive": "http://x/y", "spec": "vmscape", "digest": "0" * 12}
    done = run(checkout, "series.yml", a_command(tmp_path, 0), **inputs)
    assert done.returncode == 0, done.stdout
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[0] == "series|add|--archive|http://x/y|--spec|vmscape|--json|--|a@b|"
    assert calls[2] == "series|approve|--|toys|v2|000000000000|"
    assert calls[3] == "series|start|toys|v2|"
    assert calls[-1] == "report|reply|toys|v2|--output|ci-report/answer.mail|"


@pytest.mark.parametrize("spec", ["x;touch EVIL", "../x", "-x", "$(touch EVIL)"])
def test_what_a_dispatch_says_is_never_a_command(checkout: Path, tmp_path: Path, spec: str) -> None:
    done = run(checkout, "measure.yml", a_command(tmp_path, 0), spec=spec)
    assert done.returncode != 0
    assert not (checkout / "EVIL").exists()
    assert not (tmp_path / "calls").exists()

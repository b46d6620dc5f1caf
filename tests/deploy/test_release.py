"""`make release` as a try: what it makes is whole, says its version, and can be installed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY
from mitigauge.core.version import VERSION

pytestmark = pytest.mark.deploy


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    done = subprocess.run(
        ["make", "release"], cwd=REPOSITORY, env={**os.environ, "DRY": "1"},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    print(done.stdout, done.stderr)
    assert done.returncode == 0
    target = REPOSITORY / "dist" / VERSION
    yield target
    shutil.rmtree(target)


def test_it_is_refused_where_it_could_not_be_made_again(tmp_path: Path) -> None:
    changed = tmp_path / "checkout"
    subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(changed)], check=True)
    (changed / ".venv").symlink_to(REPOSITORY / ".venv")
    (changed / "LICENSE").write_text("changed\n")
    done = subprocess.run(
        ["scripts/release"], cwd=changed, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "changes that are not committed" in done.stderr
    assert not (changed / "dist").exists()


def test_checksums_are_those_of_the_files(made: Path) -> None:
    told = dict(line.split(maxsplit=1)[::-1] for line in _lines(made / "SHA256SUMS"))
    assert set(told) == {path.name for path in made.iterdir()} - {"SHA256SUMS"}
    for name, digest in told.items():
        assert hashlib.sha256((made / name).read_bytes()).hexdigest() == digest


def test_the_bill_names_what_is_installed_and_no_more(made: Path) -> None:
    bill = json.loads((made / f"mitigauge-{VERSION}.cdx.json").read_text())
    assert bill["bomFormat"] == "CycloneDX"
    found = {plain(part["name"]): part["version"] for part in bill["components"]}
    # One package may be pinned twice, for different Pythons.
    pinned: dict[str, set[str]] = {}
    for line in _lines(made / "requirements.txt"):
        if "==" in line and not line.startswith((" ", "#")):
            name, version = line.split(" ")[0].split("==")
            pinned.setdefault(plain(name), set()).add(version)
    assert found.pop("mitigauge") == VERSION
    # What is for other systems or Pythons is pinned, and not installed.
    assert set(found) <= set(pinned)
    assert {"fastapi", "psycopg", "numpy"} <= set(found)
    assert [n for n, version in found.items() if version not in pinned[n]] == []


def test_the_images_say_their_version(made: Path) -> None:
    for name in ("mitigauge", "mitigauge-builder"):
        said = subprocess.run(
            ["docker", "run", "--rm", f"{name}:{VERSION}", "--version"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert said.strip() == VERSION
        [found] = json.loads(
            subprocess.run(
                ["docker", "image", "inspect", f"{name}:{VERSION}"], capture_output=True, check=True
            ).stdout
        )
        labels = found["Config"]["Labels"]
        assert labels["org.opencontainers.image.version"] == VERSION
        assert len(labels["org.opencontainers.image.revision"]) == 40
        packages = (made / f"{name}-{VERSION}.packages.tsv").read_text()
        assert "openssh-client\t" in packages


def test_the_package_works_in_a_clean_environment(made: Path, tmp_path: Path) -> None:
    """By pip alone, with the pinned versions; away from any checkout."""
    place = tmp_path / "place"
    subprocess.run(["/usr/bin/python3", "-m", "venv", str(place)], check=True)
    pip = [str(place / "bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--requirement", str(made / "requirements.txt")], check=True)
    subprocess.run([*pip, "--no-deps", *map(str, made.glob("*.whl"))], check=True)
    kept = {name: value for name, value in os.environ.items() if "MITIGAUGE" not in name}
    environment = {**kept, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    environment.pop("PYTHONPATH", None)
    share = next(place.glob("lib/python3*/site-packages/mitigauge/share"))
    for words in (
        "db upgrade",
        f"experiment import {share}/db/recorded/lab-demo.mitigauge.zst",
        "experiment report 1 --format text",
        "compare --help",
        "profile --help",
        "kernel profiles",
        "health",
        "worker --until-idle --no-runs",
    ):
        done = subprocess.run(
            [str(place / "bin/mitigauge"), *words.split()], cwd=tmp_path, env=environment,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
    assert (tmp_path / "state/mitigauge/postgres").is_dir()
    stop = "from mitigauge.storage.database import embedded_server as s; "
    stop += "from mitigauge.core.settings import get_settings as g; s.stop(g().home)"
    subprocess.run([str(place / "bin/python"), "-c", stop], env=environment, check=True)


def plain(name: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()

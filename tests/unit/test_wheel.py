"""A wheel holds every package and its data files, and its command starts."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY

PARTS = ("mitigauge", "cli", "lab", "api", "pipelines", "requirements")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
# What is laid into the disk of an emulated host; those are made in a checkout alone.
NOT_PACKAGED = REPOSITORY / "lab" / "image"
# The package's own file, its version, and data files that are read at run time.
ASK = """
import mitigauge
from mitigauge.analysis.profiles.store.normalise import rules
from mitigauge.core.stats.boundaries import look_levels
rules(), look_levels((2, 4), contrasts=1, alpha=0.05)
print(mitigauge.__file__)
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an installed wheel puts into site-packages."""
    sources, built = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("built")
    for part in PARTS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / part, sources / part, ignore=ignored)
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / file, sources)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, built],
        cwd=sources, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [wheel] = built.glob("*.whl")
    site = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(site)
    return site


def test_every_package_and_data_file_is_in_it(unpacked: Path) -> None:
    for part in PARTS[:-1]:
        wanted = {
            path.relative_to(REPOSITORY)
            for path in (REPOSITORY / part).rglob("*")
            if path.is_file()
            and "__pycache__" not in path.parts
            and NOT_PACKAGED not in path.parents
        }
        assert wanted <= {path.relative_to(unpacked) for path in (unpacked / part).rglob("*")}


def test_its_command_says_its_version(unpacked: Path, tmp_path: Path) -> None:
    started = "import sys; from cli.main import main; sys.argv = ['mitigauge', '--version']; main()"
    done = run(started, unpacked, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "0.1.0\n"


def test_its_modules_and_data_files_are_its_own(unpacked: Path, tmp_path: Path) -> None:
    done = run(ASK, unpacked, tmp_path)
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(unpacked)


def run(program: str, site: Path, elsewhere: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(site), "HOME": str(elsewhere)},
        cwd=elsewhere, capture_output=True, text=True, check=False,
    )  # fmt: skip

"""The script that configures a kernel asks make for what a profile needs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from mitigauge.core.settings import REPOSITORY

SCRIPT = REPOSITORY / "pipelines/kernel_scripts/configure"
# Stands for make: notes what it was asked, and reads its answers as localmodconfig does.
MAKE = """\
#!/bin/sh
echo "$*" >>"$NOTES"
case $* in *localmodconfig)
    head -n 500 >/dev/null
    cat "${4#LSMOD=}" >>"$NOTES"
    [ -z "$FAILS" ]
esac
"""

CONFIG = """\
#!/bin/sh
echo "$*" >>"$NOTES.config"
"""


@pytest.fixture
def build(tmp_path: Path) -> Path:
    for name in ("out", "patches", "source/scripts", "tools"):
        (tmp_path / name).mkdir(parents=True)
    for path, text in (("tools/make", MAKE), ("source/scripts/config", CONFIG)):
        (tmp_path / path).write_text(text)
        (tmp_path / path).chmod(0o755)
    return tmp_path


def configure(build: Path, profile: str, *, fails: str = "") -> tuple[int, list[str]]:
    """Exit status, and what make was asked and read, line by line."""
    (build / "patches/profile.config").write_text(profile)
    script = SCRIPT.read_text().replace("/build", str(build))
    environment = {
        "PATH": f"{build}/tools:{os.environ['PATH']}", "CONFIG_WHOLE": "yes",
        "NOTES": f"{build}/notes", "FAILS": fails,
    }  # fmt: skip
    done = subprocess.run(["bash", "-c", script], env=environment, check=False, timeout=60)
    begins = f"-C {build}/source O={build}/out "
    return done.returncode, [
        line.removeprefix(begins) for line in (build / "notes").read_text().splitlines()
    ]


def test_a_whole_configuration_is_completed_and_nothing_is_left_out(build: Path) -> None:
    assert configure(build, "CONFIG_X=m\n") == (0, ["olddefconfig", "olddefconfig"])


def test_modules_need_no_key_of_their_own(build: Path) -> None:
    """A distribution's lockdown selects MODULE_SIG again, and a key of chance would be made."""
    configure(build, "CONFIG_SECURITY_LOCKDOWN_LSM=y\nCONFIG_MODULE_SIG_FORCE=y\n")
    asked = (build / "notes.config").read_text()
    assert "--set-str MODULE_SIG_KEY \n" in asked
    for option in ("MODULE_SIG_ALL", "MODULE_SIG_FORCE"):
        assert f"--disable {option}" in asked


def test_a_local_one_is_reduced_to_the_modules_that_it_names(build: Path) -> None:
    status, asked = configure(build, "CONFIG_X=m\n# module: e1000e\n# module: nvme\n")
    assert status == 0
    assert asked == [
        "olddefconfig", f"LSMOD={build}/out/loaded localmodconfig", "e1000e", "nvme",
        "olddefconfig",
    ]  # fmt: skip


def test_where_it_fails_the_configuration_fails(build: Path) -> None:
    status, asked = configure(build, "CONFIG_X=m\n# module: e1000e\n", fails="yes")
    assert status != 0
    assert len(asked) == 3

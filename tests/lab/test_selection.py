"""Which mitigation a kernel that was built here chooses, on emulated processors, by the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from mitigauge.core.settings import REPOSITORY, get_settings
from mitigauge.kernels.config_profile import profile_of
from mitigauge.kernels.tables import Kernel
from mitigauge.storage.files.blobs import blob_store
from pipelines.kernel_build import Builder
from pipelines.kernel_order import Order

pytestmark = pytest.mark.lab

NO_GUEST = "mitigations=auto,no_guest_host"


def test_protection_that_no_guest_host_takes_away_is_found(
    module_engine: tuple[Engine, str], tmp_path: Path
) -> None:
    engine, url = module_engine
    settings = get_settings()
    builder = Builder(settings.home / "kernels", engine, blob_store(settings), report=print)
    number = builder.build(Order("linux-source-7.2", profile_of("lab")))
    with Session(engine) as session:
        release = str(session.get_one(Kernel, number).release)
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "matrix", "select", release, "--processor", "Zen 2",
         "--option", "vmscape=force", "--option", "vmscape=on", "--mitigations", "-",
         "--mitigations", NO_GUEST, "--csv", str(tmp_path / "cells.csv"), "--json"],
        cwd=REPOSITORY, env={**os.environ, "MITIGAUGE_DATABASE_URL": url},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    # It ends as where something is worse.
    assert done.returncode == 3, done.stderr
    cells = {(each["mitigations"], each["option"]): each for each in json.loads(done.stdout)}
    assert len(cells) == 4
    assert not any(each["unproven"] for each in cells.values())
    forced = cells["", "vmscape=force"]
    assert forced["state"] == "Mitigation: IBPB before exit to userspace"
    assert forced["findings"] == []
    lost = cells[NO_GUEST, "vmscape=force"]
    assert (lost["state"], lost["findings"]) == ("Vulnerable", ["worse than asked"])
    assert lost["code"] != forced["code"]
    assert cells["", "vmscape=on"]["findings"] == ["not known"]
    assert (tmp_path / "cells.csv").read_text().count("\n") == 5

"""What a host left is unpacked within limits, and nowhere else."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from mitigauge.settings import get_settings
from pipelines.host_control import LabFault
from pipelines.steps.measure import collect
from tests.specs import CATALOG


def archive(directory: Path, name: str, size: int) -> Path:
    """An archive of one file."""
    made = directory / "job.tar.gz"
    with tarfile.open(made, "w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.size = size
        tar.addfile(member, io.BytesIO(bytes(size)))
    return made


def test_files_over_the_limit_are_not_unpacked(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_UPLOAD_INFLATED_LIMIT_BYTES", "1000")
    get_settings.cache_clear()
    with pytest.raises(LabFault, match="1000"):
        collect(archive(tmp_path, "j/1/out.txt", 1001), [], CATALOG)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("name", ["../../{}", "/tmp/{}"])
def test_a_file_outside_is_refused_and_not_written(tmp_path: Path, name: str) -> None:
    outside = name.format(tmp_path.name + ".outside")
    with pytest.raises(LabFault):
        collect(archive(tmp_path, outside, 3), [], CATALOG)
    assert not list(Path("/tmp").glob(f"{tmp_path.name}.outside"))

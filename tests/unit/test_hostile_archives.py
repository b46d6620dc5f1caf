"""What a hostile host leaves is refused, or left out, before it costs anything."""

from __future__ import annotations

import json
import tarfile
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from mitigauge.core.settings import get_settings
from pipelines.host_control import LabFault
from pipelines.steps import archive as archives
from pipelines.steps.archive import unpacked
from pipelines.steps.measure import JobReport, collect
from tests.fuzz.builders import gzipped, job_files, many_members, member, spin_case, tar_of
from tests.measuring import within_processor_s
from tests.specs import CATALOG

RUN = {"1/run.json": b"{}"}


def write(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "job.tar.gz"
    path.write_bytes(content)
    return path


def taken(tmp_path: Path, members: list[Any], **case: Any) -> list[str]:
    """Names of what is unpacked of an archive of *members*."""
    path = write(tmp_path, gzipped(tar_of(members)))
    job = unpacked(path, tmp_path / "into", [spin_case(**case)], get_settings())
    return sorted(str(found.relative_to(job)) for found in job.rglob("*") if found.is_file())


def refusal(tmp_path: Path, content: bytes, **case: Any) -> str:
    with pytest.raises(LabFault) as refused:
        unpacked(write(tmp_path, content), tmp_path / "into", [spin_case(**case)], get_settings())
    assert not (tmp_path / "into").exists()
    return refused.value.message.removeprefix("the job's archive ")


def test_a_million_members_are_given_up_at_the_limit(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "job.tar.gz"
    many_members(path, 1_000_000)
    tracemalloc.start()
    with within_processor_s(30), pytest.raises(LabFault, match="has more than 5680 members"):
        collect(path, [spin_case()], CATALOG)
    assert tracemalloc.get_traced_memory()[1] < 64 << 20
    tracemalloc.stop()


def test_20000_captures_that_nobody_asked_for_are_not_unpacked(tmp_path: Path, home: Path) -> None:
    files = {f"{number}/profile/perf.script.gz": b"" for number in range(2, 20_002)}
    path = write(tmp_path, gzipped(tar_of(job_files(files))))
    with within_processor_s(30), pytest.raises(LabFault, match="has more than 5680 members"):
        collect(path, [spin_case()], CATALOG)


def test_only_what_a_case_was_asked_for_is_unpacked(tmp_path: Path, home: Path) -> None:
    files = {
        "1/run.json": b"{}",
        "1/profile/profile.json": b"{}",
        "1/profile/perf.script.gz": b"x",
        "1/profile/guest/perf.script.gz": b"x",
        "2/run.json": b"{}",
        "job.json": b"{}",
        "nested/state.json": b"{}",
    }
    members = [*job_files(files), member("elsewhere/1/run.json", b"{}")]
    assert taken(tmp_path / "a", members) == [
        "1/profile/perf.script.gz", "1/profile/profile.json", "1/run.json", "state.json",
    ]  # fmt: skip
    assert taken(tmp_path / "b", members, profile_hz=None) == ["1/run.json", "state.json"]
    assert "1/profile/guest/perf.script.gz" in taken(tmp_path / "c", members, profile_guest=True)


@pytest.fixture(autouse=True)
def places(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).mkdir()


def test_links_and_devices_are_left_out_and_cannot_be_written_through(
    tmp_path: Path, home: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    members = [
        *job_files(RUN),
        member("j/1/link", type=tarfile.SYMTYPE, linkname=str(outside)),
        member("j/1/link/x", b"abc"),
        member("j/1/hard", type=tarfile.LNKTYPE, linkname="/etc/passwd"),
        member("j/1/pipe", type=tarfile.FIFOTYPE),
        member("j/1/disk", type=tarfile.BLKTYPE),
    ]
    assert taken(tmp_path, members) == ["1/link/x", "1/run.json", "state.json"]
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    [
        "../out.txt", "/tmp/out.txt", "j/../../out.txt", "j/1/./x", "j//x", "j/1/a\x1b[2Jb",
        "j/1/\udcff", "j/1/ü", f"j/1/{'x' * 201}", "j/" + "d/" * 12 + "x",
        "j/1/" + "y/" * 600 + "z",
    ],
)  # fmt: skip
def test_names_that_no_job_has_are_refused(tmp_path: Path, home: Path, name: str) -> None:
    said = refusal(tmp_path, gzipped(tar_of([*job_files(RUN), member(name, b"abc")])))
    assert said.startswith("names '")
    assert said.isprintable()
    assert said.isascii()


def test_a_name_that_comes_twice_is_refused(tmp_path: Path, home: Path) -> None:
    members = [*job_files(RUN), member("j/1/run.json", b"[]")]
    assert refusal(tmp_path, gzipped(tar_of(members))) == "names 'j/1/run.json' twice"


def test_a_file_where_a_directory_must_be_is_refused(tmp_path: Path, home: Path) -> None:
    members = [*job_files({"1": b"x", **RUN})]
    with pytest.raises(LabFault, match=r"cannot be read: .*Not a directory|File exists"):
        taken(tmp_path, members)


def header(kind: bytes, size: int, content: bytes) -> bytes:
    """An extended header of that kind, as it stands in the tar."""
    info = tarfile.TarInfo("./header")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.USTAR_FORMAT) + content + bytes(-len(content) % 512)


@pytest.mark.parametrize(
    ("kind", "content", "times", "said"),
    [
        (tarfile.XHDTYPE, b"20 comment=" + b"x" * (3 << 20), 1, "has headers of 3145739 bytes"),
        (tarfile.GNUTYPE_LONGNAME, b"n" * (9 << 10), 1, "has headers of 9216 bytes"),
        (tarfile.GNUTYPE_LONGNAME, b"n\0", 2000, "has headers of 2 bytes, or 5 for one"),
        (tarfile.XHDTYPE, b"13 comment=x\n", 2000, "has headers of 13 bytes, or 5 for one"),
        (tarfile.XGLTYPE, b"12 comment=x", 1, "has a header of kind b'g'"),
        (tarfile.GNUTYPE_SPARSE, b"", 1, "has a header of kind b'S'"),
        (tarfile.XHDTYPE, b"21 GNU.sparse.size=9\n", 1, "has a sparse file"),
    ],
)
def test_headers_are_limited_before_they_are_read(
    tmp_path: Path, home: Path, kind: bytes, content: bytes, times: int, said: str
) -> None:
    start = tar_of(job_files(RUN)).rstrip(b"\0")
    start += bytes(-len(start) % 512)
    end = tar_of([member("j/1/x", b"abc")])
    assert said in refusal(
        tmp_path, gzipped(start + header(kind, len(content), content) * times + end)
    )


def test_an_archive_does_not_end_at_a_header_that_cannot_be_read(
    tmp_path: Path, home: Path
) -> None:
    start = tar_of(job_files(RUN)).rstrip(b"\0")
    start += bytes(-len(start) % 512)
    damaged = bytearray(tar_of([member("j/1/x", b"abc")]))
    damaged[0] ^= 1
    assert "has a header that cannot be read" in refusal(tmp_path, gzipped(start + damaged))


@pytest.mark.parametrize("size", ["-512", "9" * 30])
def test_a_size_that_cannot_be_is_refused(tmp_path: Path, home: Path, size: str) -> None:
    record = f" size={size}\n"
    record = f"{len(record) + 2}{record}"
    start = tar_of(job_files(RUN)).rstrip(b"\0")
    start += bytes(-len(start) % 512)
    content = header(tarfile.XHDTYPE, len(record), record.encode())
    refusal(tmp_path, gzipped(start + content + tar_of([member("j/1/x", b"abc")])))


def test_zeros_are_given_up_by_their_ratio(tmp_path: Path, home: Path) -> None:
    content = gzipped(tar_of(job_files({"2/zeros": bytes(100 << 20)})))
    with within_processor_s(5):
        assert refusal(tmp_path, content).startswith("unpacks to more than ")


def test_files_over_the_limit_are_refused(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_JOB_FILES_LIMIT_BYTES", "1000")
    get_settings.cache_clear()
    content = gzipped(tar_of(job_files({"1/a": b"x" * 600, "1/b": b"y" * 600})))
    assert refusal(tmp_path, content) == "unpacks to more than 1000 bytes"


def test_an_archive_over_the_limit_is_not_opened(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MITIGAUGE_ARCHIVE_LIMIT_BYTES", "1000")
    get_settings.cache_clear()
    assert refusal(tmp_path, b"x" * 2000) == "has 2000 bytes, over 1000"


def test_an_archive_that_takes_too_long_is_given_up(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives.Bounds, "of", lambda *_: archives.Bounds(1 << 20, 1 << 20, 9, 0.0))
    assert refusal(tmp_path, gzipped(tar_of(job_files(RUN)))) == "takes more than 0 s to read"


GOOD = gzipped(tar_of(job_files(RUN)))
FLIPPED = bytearray(GOOD)
FLIPPED[-6] ^= 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be read: it is cut off"),
        (b"no gzip at all", "cannot be read: zlib error: Error -3"),
        (GOOD[:-20], "cannot be read: it is cut off"),
        (
            bytes(FLIPPED),
            "cannot be read: zlib error: Error -3 while decompressing data: incorrect",
        ),
        (gzipped(b"x" * 2000), "cannot be read: "),
        (gzipped(b""), "cannot be read: empty file"),
    ],
)
def test_damaged_archives_are_refused(
    tmp_path: Path, home: Path, content: bytes, said: str
) -> None:
    assert refusal(tmp_path, content).startswith(said)


def test_a_link_in_the_archives_place_is_not_followed(tmp_path: Path, home: Path) -> None:
    real = write(tmp_path, GOOD)
    link = tmp_path / "link.tar.gz"
    link.symlink_to(real)
    with pytest.raises(LabFault, match="is missing"):
        unpacked(link, tmp_path / "into", [spin_case()], get_settings())


@pytest.mark.parametrize(
    "state",
    [
        [], {}, {"finished_cases": 5}, {"finished_cases": [{"case_id": 1, "exit_code": 0}]},
        {"finished_cases": [{"case_id": "1", "exit_code": "0"}]},
        {"finished_cases": [{"case_id": "1", "exit_code": 10**10}]},
    ],
)  # fmt: skip
def test_a_state_that_is_none_is_a_lab_fault(tmp_path: Path, home: Path, state: Any) -> None:
    path = write(tmp_path, gzipped(tar_of(job_files(RUN, state=state))))
    with pytest.raises(LabFault, match=r"the job's state\.json cannot be read"):
        collect(path, [spin_case()], CATALOG)


def test_a_deep_state_is_a_lab_fault(tmp_path: Path, home: Path) -> None:
    path = write(tmp_path, gzipped(tar_of([member("j/state.json", b"[" * 500_000)])))
    with pytest.raises(LabFault, match=r"the job's state\.json cannot be read"):
        collect(path, [spin_case()], CATALOG)


def test_a_failing_cases_stderr_is_cleaned_and_only_its_end_is_kept(
    tmp_path: Path, home: Path
) -> None:
    state = {"finished_cases": [{"case_id": "1", "exit_code": 3}]}
    stderr = b"x" * 5_000_000 + b"\x1b]0;owned\x07 \x9b2J \0 no luck \xe2\x80\xae\n"
    path = write(tmp_path, gzipped(tar_of(job_files({"1/stderr.txt": stderr}, state=state)), 1))
    [output] = collect(path, [spin_case()], CATALOG)
    assert output.state == "failed"
    assert output.error.startswith("run exited 3: xxx")
    assert output.error.endswith("�]0;owned� �2J � no luck �")
    assert len(output.error) < 1100


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        ({}, "state"), ({"state": "odd"}, "state"),
        ({"state": "running", "seconds": "1"}, "seconds"),
        ({"state": "finished", "seconds": float("nan")}, "seconds"),
        ({"state": "finished", "seconds": -1.0}, "seconds"),
        ({"state": "running", "current_case": ["x"]}, "current_case"),
        ({"state": "failed", "detail": {}}, "detail"),
    ],
)  # fmt: skip
def test_a_report_of_a_job_that_cannot_be_is_a_lab_fault(facts: Any, field: str) -> None:
    with pytest.raises(LabFault, match=f"the host says of its job: {field}: "):
        JobReport.of(facts)


def test_gzip_members_that_hold_nothing_cost_no_time(tmp_path: Path, home: Path) -> None:
    empty = gzipped(b"")
    path = write(tmp_path, GOOD + empty * 100_000)
    with within_processor_s(3):
        unpacked(path, tmp_path / "into", [spin_case()], get_settings())
    assert json.loads((tmp_path / "into/j/state.json").read_text())

"""The archive that a simulated host's finished job leaves, whole or damaged."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

RECORDED = (
    Path(__file__).parents[1] / "fixtures" / "profiles" / "syscall-basic.perf.script.gz"
).read_bytes()
PROFILED = {
    "state": "ok", "detail": "", "hz": 499, "perf": "6.1", "event": "cpu-clock", "lost": 3,
    "seconds": 1.5, "counters": {"cycles": 12.0}, "capture": "perf.script.gz",
}  # fmt: skip
NO_PERF = {"state": "failed", "hz": 499, "detail": "perf is not installed on the host"}


def packed(
    job: str,
    cases: Sequence[dict[str, Any]],
    *,
    profile: str = "ok",
    said: Mapping[str, Any] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> bytes:
    """What a finished job leaves: a directory a case, and what was profiled.

    *said*: what the host says beyond that, by name: ``values`` and ``tools`` go to each case's
    parser, ``stderr`` is that of a case that failed, ``case`` replaces fields of ``case.json``,
    ``gates`` is what the kernel counted while each case ran.
    *files*: what lies in each case's directory besides.
    """
    said = said or {}
    more, exit_code = files or {}, 1 if "stderr" in said else 0
    gates = {"gates": said["gates"]} if "gates" in said else {}
    content: dict[str, Any] = {
        "state.json": {
            "state": "finished",
            "finished_cases": [
                {"case_id": c["case_id"], "exit_code": exit_code, **gates} for c in cases
            ],
        },
    }
    for case in cases:
        of_case = {"case.json": {**case, **said.get("case", {})}, **_said_files(said), **more}
        of_case.update(_profile_files(case, profile))
        content.update({f"{case['case_id']}/{name}": file for name, file in of_case.items()})
    return _tar({f"{job}/{name}": file for name, file in content.items()})


def _said_files(said: Mapping[str, Any]) -> dict[str, Any]:
    files = {f"{name}.json": said[name] for name in ("values", "tools") if name in said}
    if "stderr" in said:
        files["stderr.txt"] = str(said["stderr"]).encode(errors="surrogatepass")
    return files


def _profile_files(case: Mapping[str, Any], how: str) -> dict[str, Any]:
    files: dict[str, Any] = {}
    if case["profile_hz"]:
        files.update({f"profile/{name}": content for name, content in profiled(case, how).items()})
    if case.get("profile_off_cpu"):
        of_waits = {f"profile/off-cpu/{name}": file for name, file in profiled(case, how).items()}
        files.update(of_waits)
    if case.get("profile_guest"):
        files.update({f"profile/guest/{name}": content for name, content in of_guest(how).items()})
    return files


def _tar(files: Mapping[str, Any]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        for name, content in files.items():
            data = content if isinstance(content, bytes) else json.dumps(content).encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def of_guest(how: str) -> dict[str, Any]:
    """Files that the guest of a profiled pass left."""
    if how == "no guest":
        return {"profile.json": {"state": "failed", "hz": 499, "detail": "the guest said nothing"}}
    return {"profile.json": PROFILED, "perf.script.gz": RECORDED}


def profiled(case: Mapping[str, Any], how: str) -> dict[str, Any]:
    """Files of a profiled pass that went well, or wrong in one of the ways there are."""
    again = {**case, "warmup": 0}
    files: dict[str, Any] = {
        "case.json": again, "profile.json": PROFILED, "perf.script.gz": RECORDED,
    }  # fmt: skip
    if how == "no perf":
        return {"profile.json": NO_PERF}
    if how == "damaged":
        files["perf.script.gz"] = RECORDED[:-500]
    if how == "left out":
        del files["perf.script.gz"]
    if how == "cut off":
        del files["profile.json"]
    if how == "another's":
        files["case.json"] = {**again, "case_id": "4711"}
    return files

"""Action: start or poll a job and, once it has ended, keep its archive on the control side.

One round trip in place of three tasks (stat, archive, fetch), and the archive
does not pass through the event stream, where it would be stored a second time.

The host may be hostile: what it answers is limited while it comes. Ansible reads an answer
whole into this task's own process, so that process may take only so much memory.
"""

from __future__ import annotations

import base64
import binascii
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

# An answer is held as bytes, as text, by line and parsed, each a third longer than its archive.
COPIES = 8
# What Ansible takes besides, for connections and parsing.
ROOM_BYTES = 256 << 20


class ActionModule(ActionBase):  # type: ignore[misc]
    """Takes workload_job's arguments, and `directory` of the control side for an archive."""

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Result of workload_job; its archive replaced by `mitigauge.job.archive`, a path."""
        super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        directory = Path(arguments.pop("directory", ""))
        limit = int(arguments["archive_limit_bytes"])
        with answer_of_at_most(limit):
            result: dict[str, Any] = self._execute_module(
                module_name="workload_job",
                module_args=arguments,
                task_vars=task_vars,
            )
            archive = result.pop("archive", None)
            if not result.get("failed"):
                job = job_of(result)
                # A path is ours to say: the host's would have any file of ours read.
                job.pop("archive", None)
                if archive:
                    content = decoded(archive, limit)
                    job["archive"] = str(keep(directory, arguments["job"], content))
        return result


@contextmanager
def answer_of_at_most(limit_bytes: int) -> Iterator[None]:
    """Fail, instead of filling the memory, where a host's answer is larger than any archive.

    This process is one task's alone and ends with it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = taken + COPIES * limit_bytes * 4 // 3 + ROOM_BYTES
    if soft == resource.RLIM_INFINITY or most < soft:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    except MemoryError:
        raise AnsibleActionFail(
            f"the host's answer is larger than an archive of {limit_bytes} bytes "
            "(workload_archive_limit_bytes)"
        ) from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def job_of(result: dict[str, Any]) -> dict[str, Any]:
    """What the module says of the job."""
    said = result.get("mitigauge")
    job = said.get("job") if isinstance(said, dict) else None
    if not isinstance(job, dict):
        raise AnsibleActionFail("the host says nothing of the job")
    return job


def decoded(packed: object, limit_bytes: int) -> bytes:
    """The archive that came as base64, if it is one of at most *limit_bytes*."""
    if not isinstance(packed, str) or len(packed) > (limit_bytes + 2) // 3 * 4:
        raise AnsibleActionFail(
            f"the job's archive is over workload_archive_limit_bytes ({limit_bytes}), or no text"
        )
    try:
        return base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError) as error:
        raise AnsibleActionFail(f"the job's archive is no base64: {error}") from None


def keep(directory: Path, job: str, content: bytes) -> Path:
    """Write the archive as a whole; return its path."""
    if not directory.is_absolute():
        raise AnsibleActionFail(f"workload_fetch_dir {str(directory)!r} is not an absolute path")
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{job}.tar.gz"
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(content)
    part.replace(path)
    return path

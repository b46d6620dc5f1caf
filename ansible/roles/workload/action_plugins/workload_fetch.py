"""Action: start or poll a job and, once it has ended, keep its archive on the control side.

One round trip in place of three tasks (stat, archive, fetch), and the archive
does not pass through the event stream, where it would be stored a second time.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase


class ActionModule(ActionBase):  # type: ignore[misc]
    """Takes workload_job's arguments, and `directory` of the control side for an archive."""

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Result of workload_job; its archive replaced by `mitigauge.job.archive`, a path."""
        super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        directory = Path(arguments.pop("directory", ""))
        result: dict[str, Any] = self._execute_module(
            module_name="workload_job",
            module_args=arguments,
            task_vars=task_vars,
        )
        packed = result.pop("archive", None)
        if packed and not result.get("failed"):
            result["mitigauge"]["job"]["archive"] = str(
                keep(directory, arguments["job"], base64.b64decode(packed))
            )
        return result


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

"""A root in memory whose only program says what the kernel shows, and ends the machine."""

from __future__ import annotations

from pathlib import Path

from pipelines.adapters.initramfs import packed
from pipelines.adapters.sandbox import Sandbox

SAID = "SHOWN"
SOURCE = f"""
#include <stdio.h>
#include <sys/mount.h>
#include <sys/reboot.h>

int main(int count, char **files)
{{
	char line[512];

	mount("sysfs", "/sys", "sysfs", 0, NULL);
	FILE *file = fopen("/sys/devices/system/cpu/vulnerabilities/vmscape", "r");
	if (file && fgets(line, sizeof(line), file))
		printf("{SAID} %s", line);
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	return 0;
}}
"""


def build(root: Path, directory: Path, source: str = SOURCE) -> Path:
    """Make it in *directory*, with the compiler of the build root *root*; the archive.

    *source*: of its only program.
    """
    work = directory / "init"
    work.mkdir(parents=True)
    (work / "init.c").write_text(source)
    log = directory / "init.log"
    status = Sandbox(root).run(
        ["gcc-14", "-static", "-O2", "-o", "init", "init.c"],
        log=log,
        writable={"/build/out": work},
        readable={},
        directory="/build/out",
        variables={},
    )
    assert status == 0, log.read_text()
    archive = directory / "initramfs"
    archive.write_bytes(packed((work / "init").read_bytes()))
    return archive

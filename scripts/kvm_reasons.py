"""Writes `mitigauge/measurement/collectors/kernel_reasons.py` from a kernel's headers.

python scripts/kvm_reasons.py /usr/src/linux-headers-7.2.13+deb14-common
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TARGET = (
    Path(__file__).parents[1] / "mitigauge" / "measurement" / "collectors" / "kernel_reasons.py"
)
# What is no reason: the begin and end of a range, what a guest asks its host for, and flags.
NO_REASON = re.compile(r"^(EXCP_BASE|LAST_EXCP|ERR|SW)$")
TABLES = {
    "TO_USERSPACE": ("include/uapi/linux/kvm.h", r"KVM_EXIT_(?!IO_|HYPERV_|XEN_)(\w+)"),
    "VMX": ("arch/x86/include/uapi/asm/vmx.h", r"EXIT_REASON_(\w+)"),
    "SVM": ("arch/x86/include/uapi/asm/svm.h", r"SVM_EXIT_(\w+)"),
}
HEAD = '''"""Reasons for which guests exit, as the headers of Linux {version} name them: generated.

By `scripts/kvm_reasons.py`, from include/uapi/linux/kvm.h (TO_USERSPACE) and, of
arch/x86/include/uapi/asm, vmx.h and svm.h.
"""

from __future__ import annotations

from typing import Final
'''


def reasons(text: str, name: str) -> dict[int, str]:
    """Number → name of each reason that a header defines."""
    found = re.findall(rf"^#define\s+{name}\s+(0x[0-9a-f]+|\d+)(?=\s|$)", text, re.MULTILINE)
    return {int(number, 0): reason for reason, number in found if not NO_REASON.match(reason)}


def main(headers: Path) -> None:
    """Write the module."""
    version = re.sub(r"^linux-headers-|\+.*", "", headers.name)
    said = [HEAD.format(version=version)]
    for table, (header, name) in TABLES.items():
        said.append(f"\n{table}: Final = {{\n")
        for number, reason in sorted(reasons((headers / header).read_text(), name).items()):
            said.append(f'    {number}: "{reason.replace("_", " ")}",\n')
        said.append("}\n")
    TARGET.write_text("".join(said).replace("\n\n\n", "\n\n"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))

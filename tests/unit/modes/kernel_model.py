"""What Linux 7.2 does with options of its command line, and what it then says of itself.

After arch/x86/kernel/cpu/bugs.c, arch/x86/mm/pti.c, arch/x86/kvm/vmx/vmx.c, arch/x86/kvm/mmu and
Documentation/admin-guide/hw-vuln/attack_vector_controls.rst, apart from the files of modes. The
processor has every bug that a mode is about, and nothing that would settle one in hardware.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

VECTORS = ("user_kernel", "user_user", "guest_host", "guest_guest")
L1D = "sys/module/kvm_intel/parameters/vmentry_l1d_flush"
NX = "sys/module/kvm/parameters/nx_huge_pages"
SMT = "sys/devices/system/cpu/smt/control"
V2 = {
    "retpoline": "Mitigation: Retpolines",
    "ibrs": "Mitigation: IBRS",
    "eibrs": "Mitigation: Enhanced / Automatic IBRS",
}


@dataclass
class Kernel:
    """The command line as a kernel reads it, which does not know the *unknown* options."""

    options: Iterable[str]
    default_v2: str = "eibrs"
    unknown: frozenset[str] = frozenset()
    given: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        # The last one of a name counts; one without a value is a switch.
        self.given = {}
        for option in self.options:
            if option not in self.unknown:
                name, _, value = option.partition("=")
                self.given[name] = value

    @property
    def vectors(self) -> set[str]:
        """Against whom mitigations are chosen: those of `mitigations=` that are not taken out."""
        words = self.given.get("mitigations", "auto").split(",")
        if words[0] == "off":
            return set()
        return {vector for vector in VECTORS if f"no_{vector}" not in words}

    def choices(self) -> dict[str, str]:
        """Every choice that the kernel makes, the shown ones and others."""
        protect, given = self.vectors, self.given
        kernel_or_guest = bool(protect & {"user_kernel", "guest_host"})
        v2 = given.get("spectre_v2") or (self.default_v2 if kernel_or_guest else "off")
        v2_off_by_hand = given.get("spectre_v2") == "off"
        user = given.get("spectre_v2_user", "auto")
        # No barrier between programs where spectre_v2= itself was switched off.
        ibpb = (
            "disabled" if v2_off_by_hand or user == "off"
            else "always-on" if user == "on"
            else "conditional" if protect & {"user_user", "guest_guest"} else "disabled"
        )  # fmt: skip
        bhi = given.get("spectre_bhi") or (
            "off" if "guest_host" not in protect
            else "on" if "user_kernel" in protect else "vmexit"
        )  # fmt: skip
        buffers = any(
            given.get(name, "full" if protect else "off") != "off"
            for name in (
                "mds", "mmio_stale_data", "reg_file_data_sampling", "tsx_async_abort",
            )
        )  # fmt: skip
        its = given.get("indirect_target_selection") or ("on" if kernel_or_guest else "off")
        l1d = given.get("kvm_intel.vmentry_l1d_flush")
        barriers = "user_kernel" in protect and "nospectre_v1" not in given
        return {
            "spectre_v1": "on" if barriers else "off",
            "spectre_v2": v2,
            "ibpb": ibpb,
            "bhi": "off" if v2_off_by_hand else bhi,
            "ssb": given.get("spec_store_bypass_disable")
            or ("prctl" if "user_user" in protect else "off"),
            "buffers": "on" if buffers else "off",
            "its": "off" if v2 == "off" else its,
            "pti": given.get("pti") or ("on" if "user_kernel" in protect else "off"),
            "vmscape": given.get("vmscape") or ("ibpb" if "guest_host" in protect else "off"),
            "l1d": l1d or ("cond" if "guest_host" in protect else "never"),
            "nx": given.get("kvm.nx_huge_pages") or ("Y" if protect else "N"),
            "smt": "off" if given.get("mitigations") == "auto,nosmt" else "on",
            # What no file of a mode shows, and each vector has its part in.
            "l1tf": "on" if "guest_host" in protect else "off",
            "retbleed": "on" if kernel_or_guest else "off",
            "others": ",".join(sorted(protect)),
            **{
                name: given[name]
                for name in ("audit", "kvm_intel.mbec", "sysctl.kernel.sched_schedstats",
                             "sysctl.vm.nr_hugepages")
                if name in given
            },
        }  # fmt: skip

    def files(self) -> dict[str, str]:
        """The texts below /sys/devices/system/cpu/vulnerabilities."""
        choice = self.choices()
        barriers = "usercopy/swapgs barriers and __user pointer sanitization"
        bhi = {
            "on": "SW loop, KVM: SW loop", "vmexit": "Vulnerable, KVM: SW loop",
        }.get(choice["bhi"], "Vulnerable")  # fmt: skip
        v2 = V2.get(choice["spectre_v2"], "Vulnerable")
        cleared = "Mitigation: Clear CPU buffers" if choice["buffers"] == "on" else "Vulnerable"
        store = {
            "off": "Vulnerable",
            "on": "Mitigation: Speculative Store Bypass disabled",
            "prctl": "Mitigation: Speculative Store Bypass disabled via prctl",
        }
        vmscape = {
            "off": "Vulnerable",
            "ibpb": "Mitigation: IBPB before exit to userspace",
            "on": "Mitigation: Clear BHB before exit to userspace",
        }
        return {
            "spectre_v1": f"Mitigation: {barriers}"
            if choice["spectre_v1"] == "on"
            else "Vulnerable: __user pointer sanitization and usercopy barriers only; "
            "no swapgs barriers",
            "spectre_v2": f"{v2}; IBPB: {choice['ibpb']}; STIBP: disabled; RSB filling; BHI: {bhi}",
            "spec_store_bypass": store[choice["ssb"]],
            "indirect_target_selection": "Mitigation: Aligned branch/return thunks"
            if choice["its"] == "on"
            else "Vulnerable",
            "meltdown": "Mitigation: PTI" if choice["pti"] == "on" else "Vulnerable",
            "vmscape": vmscape[choice["vmscape"]],
            "mds": f"{cleared}; SMT vulnerable",
            "mmio_stale_data": cleared,
            "reg_file_data_sampling": cleared,
            "tsx_async_abort": cleared,
        }

    def readings(self) -> dict[str, str]:
        """Settings that are read back, by their path."""
        choice = self.choices()
        of_options = {
            "audit/enabled": "audit",
            "sys/module/kvm_intel/parameters/mbec": "kvm_intel.mbec",
            "proc/sys/kernel/sched_schedstats": "sysctl.kernel.sched_schedstats",
            "proc/sys/vm/nr_hugepages": "sysctl.vm.nr_hugepages",
        }
        return {
            L1D: choice["l1d"],
            NX: choice["nx"],
            SMT: choice["smt"],
            **{path: choice.get(name, "default") for path, name in of_options.items()},
        }

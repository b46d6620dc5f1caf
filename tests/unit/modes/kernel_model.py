"""What Linux 7.2 does with options of its command line, and what it then says of itself.

After arch/x86/kernel/cpu/bugs.c, arch/x86/mm/pti.c, arch/x86/kvm/vmx/vmx.c, arch/x86/kvm/mmu and
Documentation/admin-guide/hw-vuln/attack_vector_controls.rst, apart from the files of modes. The
processor has every bug that a mode is about, and nothing that would settle one in hardware. By its
default against Spectre variant 2 it is AMD's (retpolines) or Intel's, which RETBleed tells apart.
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
# What spectre_v2= may ask for beside them.
OTHER_V2 = {
    "retpoline,lfence": "Vulnerable: LFENCE",
    "eibrs,lfence": "Mitigation: Enhanced / Automatic IBRS + LFENCE",
    "eibrs,retpoline": "Mitigation: Enhanced / Automatic IBRS + Retpolines",
}
WITH_RETPOLINES = ("retpoline", "eibrs,retpoline")
RETBLEED = {
    "unret": "Mitigation: untrained return thunk; SMT vulnerable",
    "ibpb": "Mitigation: IBPB; SMT vulnerable",
    "ibrs": "Mitigation: IBRS",
    "eibrs": "Mitigation: Enhanced IBRS",
    "stuff": "Mitigation: Stuffing",
}
SRSO = {
    "microcode": "Vulnerable: Microcode, no safe RET",
    "safe-ret": "Mitigation: Safe RET",
    "ibpb": "Mitigation: IBPB",
    "ibpb-vmexit": "Mitigation: IBPB on VMEXIT only",
}
TSA = {
    "user": "Mitigation: Clear CPU buffers: user/kernel boundary",
    "vm": "Mitigation: Clear CPU buffers: VM",
    "on": "Mitigation: Clear CPU buffers",
}
ITS = {
    "on": "Mitigation: Aligned branch/return thunks",
    "stuff": "Mitigation: Retpolines, Stuffing RSB",
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
            else "conditional" if user == "prctl"
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
        srso = self._srso()
        retbleed = self._retbleed(v2, srso)
        if retbleed == "ibpb":
            srso = "ibpb"
        vmscape = given.get("vmscape") or ("ibpb" if "guest_host" in protect else "off")
        at_exits = retbleed == "ibpb" or srso == "ibpb-vmexit"
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
            "its": self._its(v2, retbleed),
            "retbleed": retbleed,
            "srso": srso,
            "gds": given.get("gather_data_sampling") or ("force" if protect else "off"),
            "tsa": given.get("tsa") or self._tsa(),
            "tsx": given.get("tsx", "off"),
            "pti": given.get("pti") or ("on" if "user_kernel" in protect else "off"),
            "vmscape": "on VMEXIT" if at_exits else vmscape,
            "l1d": l1d or ("cond" if "guest_host" in protect else "never"),
            "nx": given.get("kvm.nx_huge_pages") or ("Y" if protect else "N"),
            "smt": "off" if given.get("mitigations") == "auto,nosmt" else "on",
            # What no file of a mode shows, and each vector has its part in.
            "l1tf": "on" if "guest_host" in protect else "off",
            "others": ",".join(sorted(protect)),
            **{
                name: given[name]
                for name in ("audit", "kvm.halt_poll_ns", "kvm_intel.mbec",
                             "sysctl.kernel.sched_schedstats", "sysctl.vm.nr_hugepages")
                if name in given
            },
        }  # fmt: skip

    def _retbleed(self, v2: str, srso: str) -> str:
        """retbleed_select_mitigation(), retbleed_update_mitigation()."""
        asked = self.given.get("retbleed", "auto")
        stuffs = "stuff" in (asked, self.given.get("indirect_target_selection"))
        if self.default_v2 != "retpoline":
            if v2 == "retpoline":
                return "stuff" if stuffs else "off"
            return "eibrs" if v2.startswith("eibrs") else "ibrs" if v2 == "ibrs" else "off"
        if srso == "ibpb":
            return "ibpb"
        if asked in ("off", "unret", "ibpb"):
            return asked
        return "unret" if self.vectors & {"user_kernel", "guest_host"} else "off"

    def _its(self, v2: str, retbleed: str) -> str:
        """its_select_mitigation(), its_update_mitigation()."""
        protect = bool(self.vectors & {"user_kernel", "guest_host"})
        asked = self.given.get("indirect_target_selection") or ("on" if protect else "off")
        if asked == "off" or v2 == "off" or v2.endswith("lfence"):
            return "off"
        if v2 in WITH_RETPOLINES and retbleed == "stuff":
            return "stuff"
        return "stuff" if asked == "stuff" and v2 in WITH_RETPOLINES else "on"

    def _srso(self) -> str:
        """srso_select_mitigation(), of a processor with the microcode and SMT."""
        asked = self.given.get("spec_rstack_overflow")
        if asked:
            return asked
        if self.vectors & {"user_kernel", "guest_host"}:
            return "safe-ret"
        return "microcode" if self.vectors else "off"

    def _tsa(self) -> str:
        """tsa_select_mitigation()."""
        user = bool(self.vectors & {"user_kernel", "user_user"})
        vm = bool(self.vectors & {"guest_host", "guest_guest"})
        return "on" if user and vm else "user" if user else "vm" if vm else "off"

    def files(self) -> dict[str, str]:
        """The texts below /sys/devices/system/cpu/vulnerabilities."""
        choice = self.choices()
        barriers = "usercopy/swapgs barriers and __user pointer sanitization"
        bhi = {
            "on": "SW loop, KVM: SW loop", "vmexit": "Vulnerable, KVM: SW loop",
        }.get(choice["bhi"], "Vulnerable")  # fmt: skip
        v2 = (V2 | OTHER_V2).get(choice["spectre_v2"], "Vulnerable")
        clears = choice["buffers"] == "on"
        cleared = "Mitigation: Clear CPU buffers; SMT vulnerable" if clears else "Vulnerable"
        store = {
            "off": "Vulnerable",
            "on": "Mitigation: Speculative Store Bypass disabled",
            "prctl": "Mitigation: Speculative Store Bypass disabled via prctl",
            "seccomp": "Mitigation: Speculative Store Bypass disabled via prctl and seccomp",
        }
        vmscape = {
            "off": "Vulnerable",
            "ibpb": "Mitigation: IBPB before exit to userspace",
            "on": "Mitigation: Clear BHB before exit to userspace",
            "on VMEXIT": "Mitigation: IBPB on VMEXIT",
        }
        return {
            "spectre_v1": f"Mitigation: {barriers}"
            if choice["spectre_v1"] == "on"
            else "Vulnerable: __user pointer sanitization and usercopy barriers only; "
            "no swapgs barriers",
            "spectre_v2": f"{v2}; IBPB: {choice['ibpb']}; STIBP: disabled; RSB filling; BHI: {bhi}",
            "spec_store_bypass": store[choice["ssb"]],
            "indirect_target_selection": ITS.get(choice["its"], "Vulnerable"),
            "retbleed": RETBLEED.get(choice["retbleed"], "Vulnerable"),
            "spec_rstack_overflow": SRSO.get(choice["srso"], "Vulnerable"),
            "gather_data_sampling": "Vulnerable"
            if choice["gds"] == "off"
            else "Mitigation: Microcode",
            "tsa": TSA.get(choice["tsa"], "Vulnerable"),
            "meltdown": "Mitigation: PTI" if choice["pti"] == "on" else "Vulnerable",
            "vmscape": vmscape[choice["vmscape"]],
            "mds": cleared if clears else "Vulnerable; SMT vulnerable",
            "mmio_stale_data": cleared,
            "reg_file_data_sampling": "Mitigation: Clear Register File" if clears else "Vulnerable",
            "tsx_async_abort": cleared if choice["tsx"] == "on" else "Mitigation: TSX disabled",
        }

    def readings(self) -> dict[str, str]:
        """Settings that are read back, by their path."""
        choice = self.choices()
        of_options = {
            "audit/enabled": "audit",
            "sys/module/kvm/parameters/halt_poll_ns": "kvm.halt_poll_ns",
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

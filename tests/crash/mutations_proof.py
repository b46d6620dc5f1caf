"""Mutations of the boot proof: each field of it that no longer refuses anything."""

from __future__ import annotations

from tests.crash.mutation import Mutation

PROOF_PY = "mitigauge/measurement/runs/proof.py"
STEP_PY = "pipelines/steps/boot.py"
UNIT = "tests/unit/test_proof.py"
CRASH = "tests/crash/test_kernel_proof.py"
FENCE = "tests/crash/test_fence.py"
SHARED = "tests/crash/test_shared_boots.py"

PROOF = (
    Mutation(
        "the build id proves nothing",
        PROOF_PY,
        "if wanted.build_id and build_id != wanted.build_id:",
        "if False:",
        (UNIT,),
        "Another binary of the same release would pass as the arm.",
    ),
    Mutation(
        "the wanted build id is not asked of our table",
        STEP_PY,
        '    return build.build_id if build else ""\n',
        '    return ""\n',
        (CRASH,),
        "The check of the build id would be dead, as it once was.",
    ),
    Mutation(
        "a kernel of others may become another binary within a run",
        STEP_PY,
        'build_id=_wanted_build_id(run, release) or _first(alike, "build_id") or None,',
        "build_id=_wanted_build_id(run, release) or None,",
        (CRASH,),
        "An arm would mix two binaries of one release.",
    ),
    Mutation(
        "a kernel that was built anew is taken for the same",
        "pipelines/steps/prepare.py",
        "if begun_with != now.get(release) or (begun_with is None and is_ours(release)):",
        "if False:",
        (CRASH,),
        "Later blocks of an arm would boot another binary than the first ones.",
    ),
    Mutation(
        "a host is not told which package it must have",
        "pipelines/steps/prepare.py",
        "packages=packages, builds=builds)",
        "packages=packages)",
        (CRASH,),
        "A package of that name from elsewhere would stay installed.",
    ),
    Mutation(
        "a package from another file counts as installed",
        "ansible/roles/kernel/library/kernel_list.py",
        "if name not in packages or (name in digests and origin(name) != digests[name])",
        "if name not in packages",
        ("tests/unit/test_modules_boot_proof.py",),
        "A package of that name and version from another service would be booted.",
    ),
    Mutation(
        "the release proves nothing",
        PROOF_PY,
        "if wanted.kernel_release and release != wanted.kernel_release:",
        "if False:",
        (UNIT,),
        "Another kernel would pass as the arm.",
    ),
    Mutation(
        "the version of the image proves nothing",
        PROOF_PY,
        "if wanted.kernel_version and version != wanted.kernel_version:",
        "if False:",
        (UNIT,),
        "An image that was replaced after the boot was armed would pass.",
    ),
    Mutation(
        "the nonce proves nothing",
        PROOF_PY,
        "if proof.nonce != wanted.nonce:",
        "if False:",
        (UNIT,),
        "The fallback would be measured as the arm.",
    ),
    Mutation(
        "the nonce is the host's own answer",
        STEP_PY,
        "nonce=entry.nonce if shared and entry.nonce else boot.nonce,",
        "nonce=str(boot.proof and boot.proof.nonce),",
        (FENCE,),
        "The expected value would come from who is checked.",
    ),
    Mutation(
        "the boot id proves nothing",
        PROOF_PY,
        "if proof.boot_id in {wanted.previous_boot_id, *wanted.earlier_boot_ids}:",
        "if False:",
        (UNIT,),
        "A host that did not reboot would be measured in the old mode.",
    ),
    Mutation(
        "boots that were proven before are forgotten",
        PROOF_PY,
        "{wanted.previous_boot_id, *wanted.earlier_boot_ids}",
        "{wanted.previous_boot_id}",
        (UNIT,),
        "One boot would count for two where the host does not say what was up before.",
    ),
    Mutation(
        "what started the kernel proves nothing",
        PROOF_PY,
        "if within or was_by(loader) is wanted.method:",
        "if True:",
        (UNIT,),
        "A kexec would be measured where a reset was asked for.",
    ),
    Mutation(
        "the mode's state proves nothing",
        PROOF_PY,
        "if wanted.expect and not _in_force(wanted.expect, vulnerabilities):",
        "if False:",
        (UNIT,),
        "A mode that the kernel ignored would be compared.",
    ),
    Mutation(
        "one place in force stands for all",
        PROOF_PY,
        "    return all(\n        any(e.observed(",
        "    return any(\n        any(e.observed(",
        (UNIT,),
        "Of two mitigations one would do.",
    ),
    Mutation(
        "settings are not read back",
        PROOF_PY,
        "if not r.is_met(read.get(r.path))]",
        "if False]",
        (UNIT,),
        "A sysctl that the kernel refused would be compared.",
    ),
    Mutation(
        "the command line is not looked at",
        PROOF_PY,
        "for word in wanted.options if word not in there]",
        "for word in wanted.options if False]",
        (UNIT,),
        "An option that was lost on the way would stay unseen.",
    ),
    Mutation(
        "a machine check is no matter",
        PROOF_PY,
        "TAINT_MACHINE_CHECK = 1 << 4",
        "TAINT_MACHINE_CHECK = 0",
        (UNIT,),
        "A host with broken memory would be measured.",
    ),
    Mutation(
        "forced processor features are no matter",
        PROOF_PY,
        "allowed = TAINT_CPU_OUT_OF_SPEC if emulated else 0",
        "allowed = TAINT_CPU_OUT_OF_SPEC",
        (UNIT,),
        "A real host with setcpuid= would show a mitigation that its processor lacks.",
    ),
    Mutation(
        "a proof may lack anything",
        PROOF_PY,
        'if getattr(proof, name) in (None, "")]',
        "if False]",
        (UNIT,),
        "A host that says nothing would prove everything.",
    ),
    Mutation(
        "a host that rebooted by itself within a block goes on",
        STEP_PY,
        "if within is not None and proof.boot_id != within:",
        "if False:",
        (SHARED,),
        "An arm would be applied within another boot than its block's.",
    ),
)

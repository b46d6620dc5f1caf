"""Mutations of what names and builds kernels."""

from __future__ import annotations

from tests.crash.mutation import Mutation

BUILDS = "tests/db/test_kernels.py"
PACKAGE = "tests/unit/kernels/test_package_script.py"
FUNCTIONS = "tests/unit/kernels/test_functions.py"
BLOCKS = "tests/unit/kernels/test_basic_blocks.py"
COVERAGE = "tests/unit/exact/test_coverage.py"

KERNELS = (
    Mutation(
        "layouts are told by the names of their ingredients",
        "mitigauge/kernels/repository.py",
        "Kernel.source_digest == kernel.source_digest,",
        "Kernel.profile == kernel.profile,",
        (BUILDS,),
        "One arm would mix kernels of two configurations.",
    ),
    Mutation(
        "two recipes may have one release",
        "mitigauge/kernels/service.py",
        "        _require_own_release(session, recipe)\n",
        "",
        (BUILDS,),
        "The second one would be built for ever, and never stored.",
    ),
    Mutation(
        "a failed part of a pipe is no failure",
        "pipelines/kernel_scripts/package",
        "set -euo pipefail",
        "set -eu",
        (PACKAGE,),
        "The digest of nothing would make two kernels the same.",
    ),
    Mutation(
        "the digest of nothing is a digest",
        "pipelines/kernel_build.py",
        "if not _SHA256.fullmatch(d) or d == SHA256_OF_NOTHING]",
        "if not _SHA256.fullmatch(d)]",
        (PACKAGE,),
        "Two kernels of which nothing was read would be the same.",
    ),
    Mutation(
        "what unpacks the kernel is in no digest",
        "pipelines/kernel_scripts/package",
        "find arch/x86/boot drivers/firmware/efi/libstub -type f",
        "find drivers/firmware/efi/libstub -type f",
        (PACKAGE,),
        "A patch of the image's own code would change nothing, byte for byte.",
    ),
    Mutation(
        "an image may hold another kernel than vmlinux",
        "pipelines/kernel_scripts/package",
        "build_id /build/package/module | cmp -s - /build/package/build-id ||",
        "true ||",
        (PACKAGE,),
        "The build id that is stored would be of a kernel that does not boot.",
    ),
    Mutation(
        "another service's release is taken",
        "mitigauge/measurement/experiments/submit.py",
        "    _require_known(session, {name for name in named if is_ours(name)})\n",
        "",
        ("tests/crash/test_kernel_proof.py",),
        "A host may have a package of that name, and nobody knows which binary it is.",
    ),
    Mutation(
        "a function has one of its names alone",
        "pipelines/kernel_scripts/functions",
        " --show-all-symbols",
        "",
        (FUNCTIONS,),
        "A system call that is counted under its other name would run none of its patch.",
    ),
    Mutation(
        "what is written over a function is none of its code",
        "mitigauge/kernels/functions.py",
        "        | _differing(before.alternatives, after.alternatives)\n",
        "",
        (FUNCTIONS,),
        "A mitigation that is another alternative would change nothing.",
    ),
    Mutation(
        "what a function calls is none of its code",
        "mitigauge/kernels/functions.py",
        "        | _differing(before.targets, after.targets)\n",
        "",
        (FUNCTIONS,),
        "A patch that calls another function instead would be run by no case.",
    ),
    Mutation(
        "what a table points to is none of its contents",
        "pipelines/kernel_scripts/functions",
        "named($word) // $text : $text;",
        "$text : $text;",
        (FUNCTIONS,),
        "A patch that puts another function into a table would change nothing.",
    ),
    Mutation(
        "who leads to new code is the same",
        "mitigauge/kernels/basic_blocks.py",
        "to not in same or same[to] == now",
        "True",
        (BLOCKS,),
        "Code that a patch puts between two blocks would be run by no case.",
    ),
    Mutation(
        "new code is where nothing leads to",
        "mitigauge/kernels/basic_blocks.py",
        " or not _is_all_new_code_entered(new, set(same.values()))",
        "",
        (BLOCKS,),
        "What a fault leads to would be reached by no case.",
    ),
    Mutation(
        "a static key leads nowhere",
        "pipelines/kernel_scripts/functions",
        "        ($instruction, @relocated) = ($BRANCH, @$branch) if $branch;\n",
        "",
        (BLOCKS,),
        "A branch that a key turns on would be in no block.",
    ),
    Mutation(
        "parts of one build are those of another",
        "mitigauge/analysis/profiles/exact/coverage.py",
        "unlike.get(each.notes)",
        "next(iter(unlike.values()), None)",
        (COVERAGE,),
        "Bytes of a function are other instructions in another build.",
    ),
    Mutation(
        "data that differ are read by nobody",
        "mitigauge/analysis/profiles/exact/coverage.py",
        "if changed.objects or unlike.changed.objects:",
        "if False:",
        (COVERAGE,),
        "A patch of a default value would be measured by no case.",
    ),
    Mutation(
        "a count tells of kernels in which what it ran was changed",
        "mitigauge/analysis/profiles/exact/coverage.py",
        '        return f"{names_in_words(differing)} differ from',
        '        pass\n    if False:\n        return f"{names_in_words(differing)} differ from',
        (COVERAGE,),
        "A function that calls what a patch changes may be new since.",
    ),
    Mutation(
        "what runs while the kernel starts is run by nobody",
        "mitigauge/analysis/profiles/exact/coverage.py",
        "if changed.boot:",
        "if False:",
        (COVERAGE,),
        "A default that is worked out at the start would be measured by no case.",
    ),
    Mutation(
        "a ledger with code that has no name is whole",
        "mitigauge/analysis/profiles/exact/coverage.py",
        "if not known.is_whole:",
        "if False:",
        (COVERAGE,),
        "What has no name may be what a patch changes.",
    ),
    Mutation(
        "interrupts may run anything any number of times",
        "mitigauge/analysis/profiles/exact/steady.py",
        "min(few, ends + of.interrupts)",
        "few",
        ("tests/unit/exact/test_operation.py",),
        "What one operation of a hundred runs would be nothing.",
    ),
)

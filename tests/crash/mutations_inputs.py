"""Mutations of what reads profiles, packages, kernels' words, menus of GRUB, and fio's output."""

from __future__ import annotations

from tests.crash.mutation import Mutation

COLLAPSE = "tests/unit/profiles/capture/test_collapse.py"
IMPORT = "tests/unit/profiles/store/test_import_file.py"
CASES = "tests/db/test_profile_cases.py"
PACKAGE = "tests/unit/kernels/test_package.py"
WORDINGS = "tests/unit/modes/test_wordings.py"
BOOT = "tests/unit/test_modules_boot_entry.py"
EXPORTS = "tests/db/test_exports.py"

INPUTS = (
    Mutation(
        "a session knows the tables that somebody imported",
        "mitigauge/storage/database/engine.py",
        "    register_tables()\n",
        "",
        (CASES,),
        "`profile import` would end in a traceback, as a process of its own.",
    ),
    Mutation(
        "each kind of cores has an event of its own",
        "mitigauge/analysis/profiles/capture/headers.py",
        "    if found is None:\n        return event\n",
        "    if True:\n        return event\n",
        (COLLAPSE,),
        "A hybrid processor's profile would lack all efficiency cores.",
    ),
    Mutation(
        "a command of one letter is none",
        "mitigauge/analysis/profiles/capture/headers.py",
        r'_COMM = rb"(\S(?:.*?\S)??)"',
        r'_COMM = rb"(\S.*?\S)"',
        (COLLAPSE,),
        "Its process and time would become part of its name: a thread for each sample.",
    ),
    Mutation(
        "a difference of two profiles is a profile",
        "mitigauge/analysis/profiles/store/import_file.py",
        '        _require_one_count(stacks, line, f"{name}:{number}")\n',
        "",
        (IMPORT,),
        "The first count would be stored as part of a function's name.",
    ),
    Mutation(
        "an import has as many names as it likes",
        "mitigauge/analysis/profiles/capture/folded_text.py",
        "if len(different) > symbols or total > frames:",
        "if total > frames:",
        (IMPORT,),
        "61 MB with names of their own would take 1.9 GiB, and then the transaction's time.",
    ),
    Mutation(
        "an import has as much text as it likes",
        "mitigauge/analysis/profiles/capture/folded_text.py",
        "            if room < 0:\n",
        "            if False:\n",
        (IMPORT,),
        "A file would fill the memory.",
    ),
    Mutation(
        "an image is unpacked a mebibyte at a time",
        "mitigauge/kernels/build_id.py",
        "FED = 256\n",
        "FED = 1 << 20\n",
        (PACKAGE,),
        "A few hundred bytes of it may unpack to gigabytes.",
    ),
    Mutation(
        "a package names its kernel as it likes",
        "mitigauge/kernels/package.py",
        "if not _RELEASE.fullmatch(package.release) or not _BUILD_ID",
        "if False and not _BUILD_ID",
        (PACKAGE,),
        "A process that was taken over would name the kernel.",
    ),
    Mutation(
        "an import that goes on is swept",
        "mitigauge/upkeep/exports/old_files.py",
        "            if abandoned:\n",
        "            if True:\n",
        (EXPORTS,),
        "Two imports at the same time would drop each other's database.",
    ),
    Mutation(
        "what a killed import left stays",
        "mitigauge/upkeep/exports/old_files.py",
        "        _drop_abandoned(engine, connection)\n",
        "",
        (EXPORTS,),
        "Each killed import would leave a database for ever.",
    ),
    Mutation(
        "fields are parted by semicolons alone",
        "mitigauge/measurement/modes/families.py",
        'text.split(";" if ";" in text else ",")',
        'text.split(";")',
        (WORDINGS,),
        "No mode would ever be in force on 5.10.",
    ),
    Mutation(
        "fields are parted by commas too",
        "mitigauge/measurement/modes/families.py",
        'text.split(";" if ";" in text else ",")',
        'text.replace(",", ";").split(";")',
        (WORDINGS,),
        "Clearing for guests alone would pass for none at all.",
    ),
    Mutation(
        "entries that are files of their own are not there",
        "ansible/module_utils/mitigauge_grub.py",
        "    if BLS.search(grub_cfg):\n",
        "    if False:\n",
        (BOOT,),
        "update-grub would be the advice where there is none.",
    ),
    Mutation(
        "two locks share a number",
        "mitigauge/storage/database/locks.py",
        "    TRENDS = 7340228\n",
        "    TRENDS = 7340227\n",
        ("tests/unit/test_locks.py",),
        "Trends would not be updated while old data are pruned, or the other way round.",
    ),
    Mutation(
        "a count beside fio's latencies is not looked at",
        "workloads/fio/parse.py",
        'if "N" in latency and whole(',
        "if False and whole(",
        ("tests/unit/test_workload_fio.py",),
        "Latencies of other requests would pass for the case's.",
    ),
)

"""Mutations of sandboxes, of whose fault a failure is, and of bisections that must end."""

from __future__ import annotations

from tests.crash.mutation import Mutation

SANDBOX_PY = "pipelines/adapters/sandbox.py"
BOX = "tests/unit/kernels/test_sandbox.py"
BLAME = "tests/db/test_blame.py"
LOG = "tests/unit/kernels/test_build_log.py"
LOOSE = "tests/unit/kernels/test_loose_patch.py"
BOUNDS = "tests/unit/test_bounds.py"
LIMITS = "tests/api/test_limits.py"
BISECT = "tests/db/test_bisections.py"

BUILDS = (
    Mutation(
        "a build has the worker's environment",
        SANDBOX_PY,
        'given = {"PATH": PATH,',
        'given = {**os.environ, "PATH": PATH,',
        (BOX,),
        "A makefile of a stranger would read our tokens.",
    ),
    Mutation(
        "files in memory have no size",
        SANDBOX_PY,
        'words += ["--size", str(self.limits.memory_bytes // share), "--tmpfs", place]',
        'words += ["--tmpfs", place]',
        (BOX,),
        "A build would fill the machine's memory through /tmp.",
    ),
    Mutation(
        "a file without a name takes no disk",
        SANDBOX_PY,
        "if use.used_bytes + unlinked_bytes(family) > limits.disk_bytes:",
        "if use.used_bytes > limits.disk_bytes:",
        (BOX,),
        "A build would fill the disk with a file that nobody sees.",
    ),
    Mutation(
        "files are not counted",
        SANDBOX_PY,
        "if use.files > limits.files:",
        "if False:",
        (BOX,),
        "A build would use up the disk's inodes.",
    ),
    Mutation(
        "what lies too deep is not there",
        SANDBOX_PY,
        "if use.too_deep:",
        "if False:",
        (BOX,),
        "A build would hide what it wrote below paths that nobody can name.",
    ),
    Mutation(
        "a full disk is no limit",
        SANDBOX_PY,
        "if self._free() < LEAST_FREE:",
        "if False:",
        (BOX,),
        "A build would take the database's disk.",
    ),
    Mutation(
        "what our side fails at ends a revision",
        "pipelines/series_run.py",
        "note = service.failed if blame_of(error) is Blame.AUTHOR else service.put_off",
        "note = service.failed",
        (BLAME,),
        "A mirror that is away would fail a series for ever, and its words would be mailed out.",
    ),
    Mutation(
        "what our side fails at is tried without end",
        "mitigauge/tracking/series/service.py",
        "    over = revision.failures >= MOST_TRIES\n",
        "    over = False\n",
        (BLAME,),
        "A build that cannot be made would be begun at every look.",
    ),
    Mutation(
        "between tries there is no pause",
        "mitigauge/tracking/series/repository.py",
        "SeriesRevision.again_at <= func.now()",
        "SeriesRevision.again_at.is_not(None)",
        (BLAME,),
        "All tries would be used up within minutes of a full disk.",
    ),
    Mutation(
        "a bisection may fail at every look",
        "mitigauge/tracking/bisect/service.py",
        "    if bisection.failures >= MOST_TRIES:\n",
        "    if False:\n",
        (BLAME,),
        "The same line would be printed for ever, and no budget spent.",
    ),
    Mutation(
        "a point whose patches cannot be had is asked for again",
        "pipelines/bisect_run.py",
        "            service.skip(bisection, point.position, why)\n            self.say",
        "            self.say",
        (BLAME,),
        "A revert that is a merge would keep its bisection for ever.",
    ),
    Mutation(
        "a bisection's budget of time has no end",
        "mitigauge/tracking/bisect/decision_service.py",
        "out_of_time = bisection.seconds >= bisection.budget_s",
        "out_of_time = False",
        (BISECT,),
        "Building alone would go on for ever.",
    ),
    Mutation(
        "boots that were lost cost nothing",
        "mitigauge/tracking/bisect/knowledge.py",
        "budget_boots=max(bisection.budget_boots - lost, 1),",
        "budget_boots=bisection.budget_boots,",
        (BISECT,),
        "A kernel that never boots would be booted beyond what the bisection may take.",
    ),
    Mutation(
        "a line of a log has no end",
        "mitigauge/kernels/build_log.py",
        '        yield line[:LONGEST_LINE].rstrip("\\n")\n',
        '        yield line.rstrip("\\n")\n',
        (LOG,),
        "One line of a build's log would be looked at for years.",
    ),
    Mutation(
        "a patch may land in another function",
        "mitigauge/kernels/loose_patch.py",
        "if wanted.function and wanted.function != got.function:",
        "if False:",
        (LOOSE,),
        "Another function than the one that was sent would be changed and measured.",
    ),
    Mutation(
        "a bound carries any verdict",
        "mitigauge/analysis/verdicts/cells.py",
        "carries(bound, said, declared.direction)",
        "True",
        (BOUNDS,),
        "A barrier that costs nothing in emulation would be called the same as none.",
    ),
    Mutation(
        "a bound is not said",
        "mitigauge/analysis/verdicts/cells.py",
        "        bound=bound,\n",
        "",
        (BOUNDS,),
        "A figure without its barrier would stand as if it were all.",
    ),
    Mutation(
        "two lengths of a body are taken",
        "api/guard.py",
        "            check_length(scope)\n",
        "",
        (LIMITS,),
        "A request could be smuggled past a proxy.",
    ),
    Mutation(
        "half of a body is waited for",
        "api/server.py",
        "return self.conn.their_state is h11.SEND_BODY and not self.cycle.response_complete",
        "return False",
        (LIMITS,),
        "Some hundred requests that never end would keep everybody out.",
    ),
)

"""Mutations of leases, fences, proofs, verdicts, hostile input, mails and kernels.

Each has the tests that must notice it. A mutation is a small fault that somebody could bring in.
Its old text stands exactly once in its file; where the code changes, correct the text here, or say
the same fault in the new code.
"""

from __future__ import annotations

from tests.crash.mutation import Mutation

FENCE = "tests/crash/test_fence.py"
LEASES = "tests/db/test_leases.py"
STUCK = "tests/crash/test_stuck.py"
ARCHIVES = "tests/unit/test_hostile_archives.py"
PROOF_PY = "mitigauge/measurement/runs/proof.py"
UNIT = "tests/unit/test_proof.py"
CRASH = "tests/crash/test_kernel_proof.py"
STEP_PY = "pipelines/steps/boot.py"
SHARED = "tests/crash/test_shared_boots.py"
PACKAGE = "tests/unit/kernels/test_package.py"
PACKAGE_SCRIPT = "tests/unit/kernels/test_package_script.py"
COVERAGE = "tests/unit/exact/test_coverage.py"
DETECTION = "tests/unit/test_trend_detection.py"
VARIANTS = "tests/unit/studies/test_variants.py"
MAIL = "tests/db/test_series_mail.py"
DELIVERIES = "tests/db/test_deliveries.py"
ADAPTER = "tests/unit/test_mail_adapter.py"
HOSTILE = "tests/unit/mails/test_hostile.py"
BOX = "tests/unit/kernels/test_sandbox.py"
SANDBOX_PY = "pipelines/adapters/sandbox.py"
BOUNDS = "tests/unit/test_bounds.py"
LIMITS = "tests/api/test_limits.py"

MUTATIONS = (
    Mutation(
        "a lease is never renewed",
        "pipelines/lease.py",
        "while not self._lost.is_set() and not self._stop.wait(pause):",
        "while False:",
        (FENCE,),
        "A step that lasts longer than its lease would lose its host to another worker.",
    ),
    Mutation(
        "a lease is renewed after it was taken over",
        "mitigauge/measurement/runs/lease_repository.py",
        "        HostLease.epoch == lease.epoch,\n        HostLease.holder == lease.holder,\n",
        "",
        (LEASES,),
        "Two workers would both believe that the host is theirs.",
    ),
    Mutation(
        "a lease that could not be renewed lets its step go on",
        "pipelines/lease.py",
        "return clock() < self._lives_until - STOP_EARLY * self._seconds",
        "return True",
        (LEASES,),
        "A play would go on on a host that another worker may have taken.",
    ),
    Mutation(
        "a commit is never tried again",
        "pipelines/insist.py",
        "if not is_away(error) or clock() > deadline:",
        "if True:",
        (FENCE,),
        "A finished step would be thrown away whenever the database restarts.",
    ),
    Mutation(
        "a commit is booked without a look",
        "pipelines/advance.py",
        "if attempt and attempt.finished_at and attempt.outcome not in LOST_ENDS:",
        "if False:",
        (STUCK,),
        "A commit whose answer was lost would be booked as refused.",
    ),
    Mutation(
        "a restore is never given up",
        "pipelines/steps/wind_up.py",
        "    except LabFault as fault:\n        problem = fault.message\n",
        "    except LabFault:\n        raise\n",
        (FENCE,),
        "A host that is gone would keep its run, and all that wait for it, for ever.",
    ),
    Mutation(
        "power is cycled without asking for the lease",
        "pipelines/adapters/ansible_host.py",
        "        self._require_lease()\n        self._power(lambda power: power.cycle())\n",
        "        self._power(lambda power: power.cycle())\n",
        (FENCE,),
        "A worker whose lease was taken over would cut the power of another's host.",
    ),
    Mutation(
        "a commit does not ask for its lease",
        "pipelines/advance.py",
        "            leases.require(session, taken.lease)\n",
        "",
        (FENCE,),
        "A worker that comes back late would overwrite what another one did.",
    ),
    Mutation(
        "a lease that is over counts as held",
        "mitigauge/measurement/runs/lease_repository.py",
        "acted_on = held.holder is not None and not has_come(held.expires_at, now, LONGEST_LEASE)",
        "acted_on = held.holder is not None",
        (LEASES,),
        "The run of a worker that was killed would never go on.",
    ),
    Mutation(
        "a lease that is held can be taken over",
        "mitigauge/measurement/runs/lease_repository.py",
        "acted_on = held.holder is not None and not has_come(held.expires_at, now, LONGEST_LEASE)",
        "acted_on = False",
        (LEASES,),
        "Two workers would act on one host at the same time.",
    ),
    Mutation(
        "a host is touched without its lease",
        "pipelines/lease.py",
        "        while not self._lost.is_set() and not self.alive():\n",
        "        while False:\n",
        (FENCE,),
        "A worker that slept would reboot a host that another one measures on.",
    ),
    Mutation(
        "faults in a row have no limit",
        "pipelines/decision.py",
        "FAULTS_IN_A_ROW_LIMIT = 6",
        "FAULTS_IN_A_ROW_LIMIT = 10**6",
        ("tests/crash/test_broken_steps.py",),
        "A run would try for ever what cannot work.",
    ),
    Mutation(
        "a block is made again without limit",
        "mitigauge/measurement/runs/outcomes.py",
        "    if repeats > BLOCK_REPEATS:\n",
        "    if False:\n",
        (STUCK,),
        "A host whose fingerprint flaps would be rebooted for ever.",
    ),
    Mutation(
        "an archive's members have no limit",
        "pipelines/steps/archive.py",
        "        if number > bounds.members:\n",
        "        if False:\n",
        (ARCHIVES,),
        "A hostile host would keep a worker busy and fill its memory.",
    ),
    Mutation(
        "an archive may name a file outside",
        "pipelines/steps/archive.py",
        '        or not {".", ".."}.isdisjoint(parts)\n',
        "",
        (ARCHIVES,),
        "A hostile host would write any file that the worker may.",
    ),
    Mutation(
        "the build id proves nothing",
        PROOF_PY,
        "if wanted.build_id and build_id != wanted.build_id:",
        "if False:",
        (UNIT,),
        "Another binary of the same release would pass as the arm.",
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
        "the release proves nothing",
        PROOF_PY,
        "if wanted.kernel_release and release != wanted.kernel_release:",
        "if False:",
        (UNIT,),
        "Another kernel would pass as the arm.",
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
        "the mode's state proves nothing",
        PROOF_PY,
        "if wanted.expect and not in_force(wanted.expect, vulnerabilities):",
        "if False:",
        (UNIT,),
        "A mode that the kernel ignored would be compared.",
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
    Mutation(
        "a package names its kernel as it likes",
        "mitigauge/kernels/package.py",
        "if not _RELEASE.fullmatch(package.release) or not _BUILD_ID",
        "if False and not _BUILD_ID",
        (PACKAGE,),
        "A process that was taken over would name the kernel.",
    ),
    Mutation(
        "an image may hold another kernel than vmlinux",
        "pipelines/kernel_scripts/package",
        "build_id /build/package/module | cmp -s - /build/package/build-id ||",
        "true ||",
        (PACKAGE_SCRIPT,),
        "The build id that is stored would be of a kernel that does not boot.",
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
        "the metric's direction is ignored",
        "mitigauge/tracking/trends/detection.py",
        'verdict="better" if larger == (terms.direction == "higher") else "worse",',
        'verdict="better" if not larger else "worse",',
        (DETECTION,),
        "More throughput would be said to be worse.",
    ),
    Mutation(
        "a variant that clears less is not out",
        "mitigauge/tracking/studies/variants.py",
        "    if less:\n        return Gate.OUT",
        "    if False:\n        return Gate.OUT",
        (VARIANTS,),
        "The loop with the fewest branches would win.",
    ),
    Mutation(
        "a link in the Maildir is followed",
        "pipelines/adapters/maildir.py",
        "os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK",
        "os.O_RDONLY | os.O_NONBLOCK",
        (MAIL,),
        "Whoever delivers mail would have any file of the service read, and its text answered.",
    ),
    Mutation(
        "two senders of one mail",
        "mitigauge/reporting/deliveries/repository.py",
        "where=MailDelivery.state == DeliveryState.LATER,",
        "where=MailDelivery.state.in_(OPEN),",
        (DELIVERIES,),
        "Two workers would each send the report of one week.",
    ),
    Mutation(
        "a mail whose answer was lost is sent again",
        "pipelines/adapters/mail.py",
        "    if talk.sent:\n",
        "    if False:\n",
        (DELIVERIES, ADAPTER),
        "A server that hangs up after the last byte would be handed the mail again.",
    ),
    Mutation(
        "a reader of mails has no limit of time",
        "mitigauge/kernels/mails/reader.py",
        "limits=LIMITS, given=given",
        "limits=Limits(600.0, 64 << 30, 1 << 30), given=given",
        (HOSTILE,),
        "One mail would keep the mail desk for hours.",
    ),
    Mutation(
        "a mail may lie in a mail without end",
        "mitigauge/kernels/mails/mime.py",
        "MOST_DEEP = 8\n",
        "MOST_DEEP = 800\n",
        (HOSTILE,),
        "Parts in parts would take time by the square of their depth, and end the reader.",
    ),
    Mutation(
        "an approval is of whatever stands there",
        "mitigauge/tracking/series/service.py",
        "    if seen is None:\n",
        "    seen = seen or now\n    if seen is None:\n",
        ("tests/db/test_series.py",),
        "A stranger's v3 would run as root, approved by who looked at v2.",
    ),
    Mutation(
        "a build has the worker's environment",
        SANDBOX_PY,
        'given = {"PATH": PATH,',
        'given = {**os.environ, "PATH": PATH,',
        (BOX,),
        "A makefile of a stranger would read our tokens.",
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
        "a bound carries any verdict",
        "mitigauge/analysis/verdicts/cells.py",
        "carries(bound, said, declared.direction)",
        "True",
        (BOUNDS,),
        "A barrier that costs nothing in emulation would be called the same as none.",
    ),
    Mutation(
        "two lengths of a body are taken",
        "api/guard.py",
        "            check_length(scope)\n",
        "",
        (LIMITS,),
        "A request could be smuggled past a proxy.",
    ),
)

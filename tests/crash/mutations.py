"""Mutations of the lease, fence, retry and limit code, each with the tests that must notice.

A mutation is a small fault that somebody could bring in. Its old text stands exactly once in its
file; where the code changes, correct the text here, or say the same fault in the new code.
"""

from __future__ import annotations

from tests.crash.mutation import Mutation
from tests.crash.mutations_builds import BUILDS
from tests.crash.mutations_figures import FIGURES
from tests.crash.mutations_inputs import INPUTS
from tests.crash.mutations_kernels import KERNELS
from tests.crash.mutations_mails import MAILS
from tests.crash.mutations_proof import PROOF

FENCE = "tests/crash/test_fence.py"
STUCK = "tests/crash/test_stuck.py"
LEASES = "tests/db/test_leases.py"
DATABASE = "tests/db/test_database_errors.py"
ARCHIVES = "tests/unit/test_hostile_archives.py"
DECIDE = "tests/unit/test_decide.py"

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
        "a renewal that fails ends all renewing",
        "pipelines/lease.py",
        "of=self._of, error=in_words(error))\n            return False\n",
        "of=self._of, error=in_words(error))\n            raise\n",
        (LEASES,),
        "One fault of the database would cost every long step its host.",
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
        "a refusal of the database is asked again for ever",
        "mitigauge/storage/database/engine.py",
        "return error.connection_invalidated or state.startswith(AWAY_CLASSES)",
        "return True",
        (DATABASE,),
        "A row that is too large would keep its run for ever, without an event.",
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
        "a run is believed as it was before its lease was had",
        "pipelines/advance.py",
        "            if run.state not in UNFINISHED_RUN_STATES:\n"
        "                leases.release(session, lease)\n"
        "                return None\n",
        "",
        (STUCK,),
        "A run that is over would take its host again, and keep it.",
    ),
    Mutation(
        "a power cycle is not recorded",
        "mitigauge/measurement/runs/outcomes.py",
        "    boot.power_cycled = True\n    boot.reason = reason\n",
        "    boot.reason = reason\n",
        (FENCE,),
        "A dead host would be cycled for ever, and nobody could tell that it was.",
    ),
    Mutation(
        "a host is cycled without a look",
        "pipelines/steps/boot.py",
        "    boot = context.boot\n    if context.host.answers():\n        return Done(",
        "    boot = context.boot\n    if False:\n        return Done(",
        (STUCK,),
        "A host that came up while no worker was there would lose its boot.",
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
        "acted_on = held.holder is not None and held.expires_at > now",
        "acted_on = held.holder is not None",
        (LEASES,),
        "The run of a worker that was killed would never go on.",
    ),
    Mutation(
        "a lease that is held can be taken over",
        "mitigauge/measurement/runs/lease_repository.py",
        "acted_on = held.holder is not None and held.expires_at > now",
        "acted_on = False",
        (LEASES,),
        "Two workers would act on one host at the same time.",
    ),
    Mutation(
        "a lease is not released at the end",
        "pipelines/advance.py",
        "            if run.state not in UNFINISHED_RUN_STATES:\n"
        "                leases.release(session, taken.lease)\n"
        "                return None\n",
        "            if run.state not in UNFINISHED_RUN_STATES:\n                return None\n",
        (FENCE,),
        "A host would stay with a run that is over.",
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
        "workers that a step ends are not counted",
        "mitigauge/measurement/runs/outcomes.py",
        "    run.lost_workers += 1 / at_once\n",
        "",
        (STUCK,),
        "A step that ends its worker would end one after the other.",
    ),
    Mutation(
        "boots that fail have no limit",
        "pipelines/decision.py",
        "if states[BootState.DID_NOT_BOOT] >= DID_NOT_BOOT_LIMIT:",
        "if False:",
        (DECIDE,),
        "An arm that panics would be booted for ever.",
    ),
    Mutation(
        "a place has no limit of attempts",
        "pipelines/decision.py",
        "ATTEMPTS_A_PLACE = 3",
        "ATTEMPTS_A_PLACE = 10**6",
        (FENCE,),
        "One place of a block would be made again as long as its host fails.",
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
        "a dead host is never set aside",
        "pipelines/steps/context.py",
        "        if silent and (tried or aside):\n",
        "        if False:\n",
        (STUCK,),
        "A dead host would fail every run of its queue.",
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
        "an archive's files have no limit",
        "pipelines/steps/archive.py",
        "            if listing.files_bytes > bounds.files_bytes:\n",
        "            if False:\n",
        (ARCHIVES,),
        "A hostile host would fill the disk of the control machine.",
    ),
    Mutation(
        "an archive may name a file outside",
        "pipelines/steps/archive.py",
        '        or not {".", ".."}.isdisjoint(parts)\n',
        "",
        (ARCHIVES,),
        "A hostile host would write any file that the worker may.",
    ),
    *PROOF,
    *INPUTS,
    *KERNELS,
    *FIGURES,
    *MAILS,
    *BUILDS,
)

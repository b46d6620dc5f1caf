"""Which candidates the bisected case is known to run nothing of."""

from __future__ import annotations

from itertools import pairwise

from sqlalchemy.orm import Session

from mitigauge.analysis.profiles.exact.coverage import CountedCase, case_key
from mitigauge.analysis.profiles.exact.reach import newest_counts, plan
from mitigauge.storage.files.blobs import BlobStore
from mitigauge.tracking.bisect.states import BisectionKind
from mitigauge.tracking.bisect.tables import Bisection


def unreached(session: Session, bisection: Bisection, blobs: BlobStore) -> dict[int, str]:
    """Candidates whose changed functions the case was counted not to run, and by which count.

    Of the functions whose code differs between two built points, none of which lies between them.
    Not of arms: their modes differ, which changes what is run.
    """
    built = [
        (point.position, point.kernel)
        for point in bisection.points
        if point.kernel is not None and point.without is None and point.kernel.functions_sha256
    ]
    if bisection.kind == BisectionKind.ARMS or len(built) < 2:
        return {}
    key = case_key(bisection.parameters)
    mode = bisection.points[0].mode
    cases = [
        CountedCase(bisection.workload, key, mode, bisection.environment, host)
        for host in bisection.hosts
    ]
    if len(newest_counts(session, cases)) < len(cases):
        return {}
    found: dict[int, str] = {}
    for (low, before), (high, after) in pairwise(built):
        reached = plan(session, [before, after], {"it": cases}, blobs)
        if reached.left_out:
            found |= dict.fromkeys(range(low + 1, high + 1), reached.reach["it"].known_by)
    return found

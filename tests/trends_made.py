"""Runs of the same experiment week after week, made up, for tests of trends."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import orjson
from sqlalchemy import Engine, text

from bench.store.fill import STARTED, Size, fill
from mitigauge.analysis.verdicts.conclusions import conclude_closed
from tests.postgres import filled

WEEK = timedelta(days=7)
SMALL = Size(cases=2, arms=2, blocks=4, iterations=1)
FACTS = {"microcode": "0x1", "packages": {"libc6": "2.41"}, "firmware": {"version": "1.16"}}


def week(
    engine: Engine,
    number: int,
    factor: float = 1.0,
    *,
    factors: Mapping[int, float] | None = None,
    host: str = "host-1",
    facts: Mapping[str, Any] = FACTS,
    kernel: str = "7.2.0",
    tools: Mapping[str, Any] | None = None,
    size: Size = SMALL,
) -> int:
    """One run that is over, some weeks after the first; returns its id.

    Each boot of a case takes the same time in every week, times *factor* (or that of the case's
    place in *factors*), but for 0.1 % that depends on the week.
    """
    made = fill(engine, size, seed=number + 1)
    noise = 1.0 + random.Random(number).uniform(-0.001, 0.001)
    with engine.begin() as c:
        first = c.execute(
            text("select id from host where environment = 'bench' and name = :n"), {"n": host}
        ).scalar()
        if first is None:
            c.execute(text("update host set name = :n where name = :o"),
                      {"n": host, "o": f"host-{number + 1}"})  # fmt: skip
            first = c.execute(text("select id from host where name = :n"), {"n": host}).scalar_one()
        c.execute(text("update run set host_id = :h where id = :r"), {"h": first, "r": made.run})
        print_id = c.execute(
            text("""insert into fingerprint (host_id, digest, facts)
                values (:h, md5(:f), cast(:f as jsonb))
                on conflict (host_id, digest) do update set digest = excluded.digest
                returning id"""),
            {"h": first, "f": orjson.dumps(facts).decode()},
        ).scalar_one()
        proof = orjson.dumps({"kernel_release": kernel, "microcode": facts.get("microcode")})
        c.execute(
            text("""update boot set fingerprint_id = :f, proof = cast(:p as jsonb),
                started_at = started_at + :w, finished_at = finished_at + :w where run_id = :r"""),
            {"f": print_id, "p": proof.decode(), "w": WEEK * number, "r": made.run},
        )
        c.execute(
            text("""update run set started_at = started_at + :w, finished_at = finished_at + :w,
                prepared = '{"staged": {"workload-0": "a", "workload-1": "b"}}' where id = :r"""),
            {"w": WEEK * number, "r": made.run},
        )
        c.execute(
            text("""update result set started_at = b.started_at, finished_at = b.finished_at,
                tools = coalesce(cast(:t as jsonb), tools)
                from boot b where b.id = boot_id and b.run_id = :r"""),
            {"r": made.run, "t": orjson.dumps(tools).decode() if tools else None},
        )
        for place in range(size.cases):
            c.execute(
                text("""update measurement m set mean = 100.0 * (1 + b.block / 1000.0)
                    * (1 + (b.arm_id % 7) / 1e6) * :f
                    from boot b, benchmark_case k where b.id = m.boot_id and b.run_id = :r
                    and k.id = m.case_id and k.position = :p"""),
                {"r": made.run, "p": place, "f": (factors or {}).get(place, factor) * noise},
            )
    return made.run


def weeks(engine: Engine, factors: Sequence[float], *, first: int = 0, **more: Any) -> list[int]:
    """One run a week with these factors, concluded."""
    if more:
        return _weeks(engine, tuple(factors), first, **more)
    return filled(engine, _weeks, tuple(factors), first)


def _weeks(engine: Engine, factors: tuple[float, ...], first: int, **more: Any) -> list[int]:
    runs = [week(engine, first + n, factor, **more) for n, factor in enumerate(factors)]
    conclude_closed(engine)
    return runs


__all__ = ["FACTS", "STARTED", "WEEK", "week", "weeks"]

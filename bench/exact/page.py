"""``make bench-exact-page``: an exact difference that is read, beside one that is computed.

Two arms of a made case of the size of an execve. Peer: the same answer worked out of the ledgers,
which is what a page does until a worker has stored the operation.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alembic import command

from bench.store.fill import Size, fill
from tests.unit.exact.ledgers import OPERATIONS, ledger

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from mitigauge.analysis.profiles.diff.sides import Selection
    from mitigauge.analysis.profiles.exact.ledger import Ledger, LedgerFunction

FUNCTIONS, LINES, BOOTS = 2_000, 60_000, 3
ROUNDS = 15
# Of one in the middle of the list, with as many instructions as any.
FUNCTION = f"function_{FUNCTIONS // 2}"
LIMITS_MS = {"": 50.0, FUNCTION: 60.0}
OPCODES = ("4889e5", "488b4310", "e8{:08x}", "0f1f440000", "7405", "0f30", "c3", "4c8d6c24{:02x}")


def made_function(number: int, arm: int, boot: int) -> LedgerFunction:
    """Every third one is interrupted now and then, and the other arm runs some more of some."""
    from mitigauge.analysis.profiles.exact.ledger import LedgerFunction, Line

    chance = random.Random(number)
    size = LINES // FUNCTIONS + (arm if number % 10 == 0 else 0)
    lines = []
    for place in range(size):
        code = chance.choice(OPCODES).format(chance.randrange(256))
        each = chance.choice((1, 1, 1, 2, 8)) * OPERATIONS
        beside = boot * chance.randrange(200) if number % 3 == 0 else 0
        text = f"op{code[:2]} ${chance.randrange(4096)}, %r{chance.randrange(16)}"
        lines.append(Line(4 * place, code, text, text, [each, each + beside], each))
    sums = [sum(line.runs[window] for line in lines) for window in range(2)]
    return LedgerFunction(
        name=f"function_{number}", module="kernel", is_kernel=True, runs=sums, lines=lines
    )


def made_ledger(arm: int, boot: int) -> Ledger:
    """A boot of an arm."""
    from mitigauge.analysis.profiles.exact.ledger import Branches

    functions = [made_function(number, arm, boot) for number in range(FUNCTIONS)]
    branches = Branches(taken=9, indirect=4, returns=5)
    return ledger(*functions, lines=9_000 + arm, pages=900, branches=branches)


def store_boots(engine: Engine) -> tuple[Selection, Selection]:
    """An experiment whose boots were counted, and what names its two arms."""
    from sqlalchemy import text

    from mitigauge.analysis.profiles.diff.sides import Selection
    from mitigauge.analysis.profiles.exact.service import CountedPass, store_counts
    from mitigauge.storage.database.engine import transaction

    filled = fill(engine, Size(cases=1, arms=2, blocks=BOOTS, iterations=1))
    with transaction(engine) as session:
        rows = session.execute(
            text("""
                SELECT b.id, b.block, a.position, a.name, c.id AS case_id, h.name AS host
                FROM boot b JOIN arm a ON a.id = b.arm_id JOIN run r ON r.id = b.run_id
                    JOIN host h ON h.id = r.host_id
                    JOIN benchmark_case c ON c.comparison_id = a.comparison_id
                ORDER BY a.position, b.block
            """)
        ).all()
        for row in rows:
            made = CountedPass(made_ledger(row.position, row.block))
            store_counts(session, row.id, row.case_id, made)
    one, other = (
        Selection(filled.experiment, row.case_id, row.host, row.name) for row in (rows[0], rows[-1])
    )
    return one, other


def asked_ms(ask: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Milliseconds of the middle one of several rounds."""
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        ask()
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1e3


@contextmanager
def database() -> Iterator[Engine]:
    """A database of its own, with our schema."""
    with tempfile.TemporaryDirectory(prefix="mitigauge-bench-") as home:
        os.environ["MITIGAUGE_HOME"] = home
        os.environ.pop("MITIGAUGE_DATABASE_URL", None)
        os.environ["MITIGAUGE_LOG_LEVEL"] = "warning"
        from mitigauge.storage.database.embedded_server import stop
        from mitigauge.storage.database.engine import alembic_config, database_url, get_engine

        try:
            command.upgrade(alembic_config(database_url()), "head")
            yield get_engine()
        finally:
            stop(Path(home), mode="immediate")


def answered(engine: Engine, asked: tuple[Selection, Selection], function: str) -> str:
    """The answer as the API sends it."""
    from mitigauge.reporting.pages.exact import exact_difference
    from mitigauge.storage.database.engine import transaction

    with transaction(engine) as session:
        return exact_difference(session, *asked, function=function).model_dump_json()


def measure(engine: Engine) -> bool:
    """Compute, store, read, print; whether all limits hold."""
    from mitigauge.analysis.profiles.exact.operation_service import store_operations
    from mitigauge.measurement.catalog import Catalog

    asked = store_boots(engine)
    # As a server does once it has started; for both that are compared.
    gc.collect()
    gc.freeze()
    before = {of: answered(engine, asked, of) for of in LIMITS_MS}
    computed = {of: asked_ms(partial(answered, engine, asked, of), rounds=3) for of in LIMITS_MS}
    began = time.perf_counter()
    arms = store_operations(engine, Catalog().events)
    print(f"stored in {(time.perf_counter() - began) / arms:.2f} s an arm of {BOOTS} boots")
    holds = True
    for of, limit in LIMITS_MS.items():
        if answered(engine, asked, of) != before[of]:
            sys.exit("what is stored does not answer as what is computed")
        read = asked_ms(partial(answered, engine, asked, of))
        holds &= read <= limit
        said = "holds" if read <= limit else "MISSED"
        print(
            f"  {said:<6} exact difference, {'one function' if of else 'no function':<12} stored"
            f" {read:6.1f} ms (≤ {limit:g}), computed {computed[of]:8.1f} ms;"
            f" {computed[of] / read:5.1f} times as long"
        )
    print_bytes(engine)
    print_run_code(engine)
    return holds


def print_bytes(engine: Engine) -> None:
    """How much room both take."""
    from sqlalchemy import text

    with engine.connect() as connection:
        ledgers = connection.scalar(text("SELECT sum(octet_length(ledger)) FROM exact_count"))
        stored = connection.scalar(
            text("SELECT sum(octet_length(summary) + octet_length(lines)) FROM exact_operation")
        )
    print(f"  ledgers {ledgers / 1e6:.2f} MB, stored operations {stored / 1e6:.2f} MB")


def print_run_code(engine: Engine) -> None:
    """What all boots ran of the kernel, as a plan reads it for a patch of one function."""
    from sqlalchemy import text

    from mitigauge.analysis.profiles.exact.repository import code_run_by
    from mitigauge.storage.database.engine import transaction

    def read() -> object:
        with transaction(engine) as session:
            return code_run_by(session, counts)

    with engine.connect() as connection:
        counts = list(connection.scalars(text("SELECT id FROM exact_count")))
        packed = connection.scalar(text("SELECT sum(octet_length(run_code)) FROM exact_count"))
    stored = asked_ms(read)
    with engine.begin() as connection:
        connection.execute(text("UPDATE exact_count SET run_code = NULL"))
    ledgers = asked_ms(read, rounds=3)
    print(
        f"  code that {len(counts)} boots ran: {stored:.1f} ms stored ({packed / 1e6:.2f} MB),"
        f" {ledgers:.0f} ms of the ledgers; {ledgers / stored:.1f} times as long"
    )


def main() -> None:
    """Parse, measure, say how it went."""
    argparse.ArgumentParser(prog="make bench-exact-page", description=__doc__).parse_args()
    with database() as engine:
        holds = measure(engine)
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()

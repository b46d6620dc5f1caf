"""Drops what the service no longer has; rows of it are written to a file in the state directory.

The file has a line of JSON a row: ``{"table": …, "row": {…}}``. It is written whole before anything
is dropped, and not at all where there is no row.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alembic import context, op
from sqlalchemy import Connection, text

from mitigauge.core.errors import NotReady
from mitigauge.core.settings import get_settings

revision = "0069"
down_revision = "0068"

FILE = "rows-before-0069.jsonl"
# What is kept of each table: its rows as JSON, by a query of SQL.
KEPT = {
    "comparison.tournament": "select id, name from comparison where tournament",
    "run.ranking": "select id, ranking from run where ranking is not null",
    "oidc_person": "select * from oidc_person",
    "price_check": "select * from price_check",
    "limit_file": "select * from limit_file",
    # Without its address: that lets whoever has it write there.
    "subscription.template": "select id, owner, kind, subject, template from subscription "
    "where template <> 'json'",
}
# Subscriptions to a chat are kept, paused, and say why; of those that become alike one stays.
SUBSCRIPTIONS = (
    "DELETE FROM subscription AS one USING subscription AS other "
    "WHERE one.template <> 'json' AND other.id <> one.id "
    "AND (other.template = 'json' OR other.id < one.id) "
    "AND (other.owner, other.kind, other.subject, other.way, other.address) "
    "= (one.owner, one.kind, one.subject, one.way, one.address)",
    "UPDATE subscription SET state = 'paused', why = 'messages in the form of ' || template || "
    "' are no longer made: add a webhook that takes JSON, such as a bridge''s' "
    "WHERE template <> 'json'",
    "UPDATE digest SET state = 'dropped', ended_at = clock_timestamp(), said = 'its form went' "
    "WHERE template <> 'json' AND state IN ('waiting', 'begun')",
    "ALTER TABLE subscription DROP COLUMN template",
    "ALTER TABLE subscription ADD CONSTRAINT uq_subscription_owner_kind_subject_way_address "
    "UNIQUE (owner, kind, subject, way, address)",
    "ALTER TABLE digest DROP COLUMN template",
)
# All are computed: they are not kept.
TRENDS = (
    "ALTER TABLE trend DROP COLUMN notes",
    "ALTER TABLE trend_arm DROP COLUMN notes",
    "ALTER TABLE trend_change DROP COLUMN moved_to",
    "UPDATE weekly_report SET data = data - 'stability' WHERE data ? 'stability'",
    "UPDATE weekly_report SET data = jsonb_set(data, '{trends}', (SELECT coalesce(jsonb_agg("
    "line - 'moved_to' ORDER BY place), '[]') FROM jsonb_array_elements(data->'trends') "
    "WITH ORDINALITY AS of (line, place))) WHERE jsonb_path_exists(data, '$.trends[*].moved_to')",
)
DROPS = (
    "ALTER TABLE comparison DROP COLUMN tournament",
    "ALTER TABLE run DROP COLUMN ranking",
    # Such a session would let somebody in whom no provider is asked about any more.
    "DELETE FROM browser_session WHERE person_id IS NOT NULL",
    "ALTER TABLE browser_session DROP COLUMN person_id",
    "DROP TABLE used_log_in",
    "DROP TABLE oidc_person",
    "DROP TABLE price_check",
    "DROP TABLE limit_file",
    "ALTER TABLE bisection DROP COLUMN end_shares",
    "ALTER TABLE bisection_candidate DROP COLUMN functions",
    "ALTER TABLE limit_outcome DROP COLUMN file",
    "ALTER TABLE backup DROP COLUMN rows",
    *SUBSCRIPTIONS,
    *TRENDS,
    "ALTER TABLE series_request DROP CONSTRAINT ck_series_request_asked",
    # What came of such a mail stands in the history of its regression.
    "UPDATE series_request SET asked = 'unclear' WHERE asked = 'regression'",
    "ALTER TABLE series_request ADD CONSTRAINT ck_series_request_asked CHECK (asked IN "
    "('test', 'fix', 'which-patch', 'select', 'variants', 'stop', 'unclear'))",
    "UPDATE series_revision SET patches = (SELECT jsonb_agg(patch - 'closes' ORDER BY place) FROM "
    "jsonb_array_elements(patches) WITH ORDINALITY AS of (patch, place)) "
    "WHERE jsonb_path_exists(patches, '$[*].closes')",
)
RESTORES = (
    "ALTER TABLE comparison ADD COLUMN tournament boolean NOT NULL DEFAULT false",
    "ALTER TABLE run ADD COLUMN ranking jsonb",
    (Path(__file__).parent.parent / "before-0069.sql").read_text(),
)


def upgrade() -> None:
    _write_rows(op.get_bind())
    for statement in DROPS:
        op.execute(statement)


def downgrade() -> None:
    for statement in RESTORES:
        op.execute(statement)


def _write_rows(connection: Connection) -> None:
    rows = _rows(connection)
    first = next(rows, None)
    if first is None:
        return
    path = get_settings().home / FILE
    part = path.with_name(f"{FILE}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(first)
            file.writelines(rows)
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    except OSError as error:
        raise NotReady(
            f"rows of what went from this version cannot be written to {path}: {error.strerror}",
            hint="Make room or the directory writable, then run `mitigauge db upgrade` again.",
        ) from error
    say = context.config.attributes.get("say", lambda _: None)
    say(f"rows of what went from this version are written to {path}")


def _rows(connection: Connection) -> Iterator[str]:
    for table, query in KEPT.items():
        statement = text(f"select row_to_json(kept) from ({query}) as kept")
        for row in connection.execute(statement).scalars():
            yield _line(table, row)


def _line(table: str, row: Any) -> str:
    return json.dumps({"table": table, "row": row}, ensure_ascii=False) + "\n"

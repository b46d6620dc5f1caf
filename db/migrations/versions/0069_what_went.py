"""Drops what the service no longer has; rows of it are written to a file in the state directory."""

from __future__ import annotations

from pathlib import Path

from alembic import context, op

from mitigauge.storage.database.dropped_rows import write_rows

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
    write_rows(op.get_bind(), KEPT, FILE, context.config.attributes.get("say", lambda _: None))
    for statement in DROPS:
        op.execute(statement)


def downgrade() -> None:
    for statement in RESTORES:
        op.execute(statement)

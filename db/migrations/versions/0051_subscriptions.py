"""Subscriptions: who hears of what, and what was told; the job that does it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
SOURCES = ["regression", "series", "host", "fingerprint", "week"]
KINDS = ["my-regressions", "new-regressions", "series", "case", "host", "week"]
WAYS = ["mail", "webhook"]
TEMPLATES = ["json", "slack", "mattermost", "matrix"]
STATES = ["active", "paused"]
DIGEST_STATES = ["waiting", "begun", "told", "given-up", "unknown", "dropped"]
JOBS = ["kernel", "revision", "bisection", "archives", "mailbox", "weekly", "backup"]
NEEDS = ["kernels", "archives", "mail", "letters", "backups"]
NOW = sa.func.clock_timestamp()


def upgrade() -> None:
    _allow([*JOBS, "digests"], [*NEEDS, "digests"])
    op.create_table(
        "notice",
        sa.Column("id", sa.Integer(), primary_key=True),
        _text("source"),
        sa.Column("source_id", sa.Integer(), nullable=False),
        _text("word", ""),
        sa.Column("at", TIME, nullable=False),
        sa.Column("taken_at", TIME, server_default=NOW, nullable=False),
        *(_text(name, "") for name in ("subject", "owner", "former_owner")),
        _flag("is_new"),
        _text("title"),
        _text("said", ""),
        _text("path"),
        _check("notice", "source", SOURCES),
        sa.UniqueConstraint(
            "source", "source_id", "word", name=op.f("uq_notice_source_source_id_word")
        ),
    )
    op.create_table(
        "subscription",
        sa.Column("id", sa.Integer(), primary_key=True),
        _text("owner"),
        _text("kind"),
        _text("subject", ""),
        _text("way"),
        _text("address"),
        _text("template", "json"),
        _flag("at_once"),
        _text("salt", ""),
        _text("key_id", ""),
        _text("state", "active"),
        _text("why", ""),
        sa.Column("cursor", sa.Integer(), nullable=False),
        sa.Column("created_at", TIME, server_default=NOW, nullable=False),
        sa.Column("told_at", TIME),
        _check("subscription", "kind", KINDS),
        _check("subscription", "way", WAYS),
        _check("subscription", "template", TEMPLATES),
        _check("subscription", "state", STATES),
        sa.UniqueConstraint(
            *("owner", "kind", "subject", "way", "address", "template"),
            name=op.f("uq_subscription_owner_kind_subject_way_address_template"),
        ),
    )
    op.create_table(
        "digest",
        sa.Column("id", sa.Integer(), primary_key=True),
        *(_text(name) for name in ("owner", "way", "address", "template")),
        _text("key_id", ""),
        *(
            sa.Column(name, postgresql.JSONB(), nullable=False)
            for name in ("subscriptions", "lines")
        ),
        sa.Column("left_out", sa.Integer(), server_default=sa.text("0"), nullable=False),
        _text("state", "waiting"),
        _text("said", ""),
        sa.Column("tries", sa.Integer(), server_default=sa.text("0"), nullable=False),
        *(
            sa.Column(name, TIME, server_default=NOW, nullable=False)
            for name in ("made_at", "next_at")
        ),
        *(sa.Column(name, TIME) for name in ("first_at", "begun_at", "ended_at")),
        _check("digest", "way", WAYS),
        _check("digest", "template", TEMPLATES),
        _check("digest", "state", DIGEST_STATES),
    )
    op.create_index(
        "ix_digest_next_at",
        "digest",
        ["next_at"],
        postgresql_where=sa.text("state IN ('waiting', 'begun')"),
    )


def downgrade() -> None:
    for table in ("digest", "subscription", "notice"):
        op.drop_table(table)
    # Jobs of a kind that this schema does not know could not be read.
    op.execute("DELETE FROM job WHERE kind = 'digests'")
    _allow(JOBS, NEEDS)


def _text(name: str, default: str | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.String(), server_default=default, nullable=False)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), server_default=sa.text("false"), nullable=False)


def _one_of(column: str, words: list[str]) -> str:
    return f"{column} IN ({', '.join(repr(word) for word in words)})"


def _check(table: str, column: str, words: list[str]) -> sa.CheckConstraint:
    return sa.CheckConstraint(_one_of(column, words), name=op.f(f"ck_{table}_{column}"))


def _allow(kinds: list[str], needs: list[str]) -> None:
    for column, words in (("kind", kinds), ("need", needs)):
        op.drop_constraint(op.f(f"ck_job_{column}"), "job")
        op.create_check_constraint(op.f(f"ck_job_{column}"), "job", _one_of(column, words))

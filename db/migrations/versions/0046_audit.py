"""The audit log, whose entries the database itself refuses to alter."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

LONGEST = {
    "actor": 200, "address": 100, "request_id": 64, "job": 40, "subject": 300, "refused": 500,
}  # fmt: skip

# Also for the table's owner, and where a session calls itself a replica.
REFUSE = """
CREATE FUNCTION audit_entry_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only: % is refused', TG_OP
    USING ERRCODE = 'insufficient_privilege';
END
$$
"""
TRIGGER = """
CREATE TRIGGER audit_entry_append_only
  BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entry
  FOR EACH STATEMENT EXECUTE FUNCTION audit_entry_refuse()
"""
ALWAYS = "ALTER TABLE audit_entry ENABLE ALWAYS TRIGGER audit_entry_append_only"


def upgrade() -> None:
    op.create_table(
        "audit_entry",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("way", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("job", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject_kind", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("before", postgresql.JSONB(), nullable=False),
        sa.Column("after", postgresql.JSONB(), nullable=False),
        sa.Column("refused", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entry")),
        sa.CheckConstraint(
            "way IN ('web', 'api', 'command', 'mail', 'worker')", name=op.f("ck_audit_entry_way")
        ),
        sa.CheckConstraint(
            "action ~ '^[a-z][a-z-]{0,29}\\.[a-z][a-z-]{0,29}$'",
            name=op.f("ck_audit_entry_action"),
        ),
        sa.CheckConstraint(
            "subject_kind ~ '^[a-z][a-z-]{0,29}$'", name=op.f("ck_audit_entry_subject_kind")
        ),
        *(
            sa.CheckConstraint(
                f"length({column}) <= {longest}", name=op.f(f"ck_audit_entry_{column}")
            )
            for column, longest in LONGEST.items()
        ),
        sa.CheckConstraint(
            "octet_length(before::text) + octet_length(after::text) <= 16384",
            name=op.f("ck_audit_entry_values"),
        ),
    )
    for name, columns in {
        "at": ["at"],
        "actor": ["actor", "id"],
        "action": ["action", "id"],
        "subject": ["subject_kind", "subject", "id"],
    }.items():
        op.create_index(f"ix_audit_entry_{name}", "audit_entry", columns)
    for statement in (REFUSE, TRIGGER, ALWAYS):
        op.execute(statement)


def downgrade() -> None:
    op.drop_table("audit_entry")
    op.execute("DROP FUNCTION audit_entry_refuse()")

"""The queue's own tables, as its package ships them."""

from __future__ import annotations

from alembic import op
from procrastinate.schema import SchemaManager
from sqlalchemy import text

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # As a plain string: its colons are PostgreSQL casts, not parameters.
    op.get_bind().exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))


def downgrade() -> None:
    # The package has no way back; all it makes bears its name.
    op.execute(
        text(
            """
            DO $$
            DECLARE thing text;
            BEGIN
              FOR thing IN SELECT format('DROP TABLE IF EXISTS %I CASCADE', tablename)
                  FROM pg_tables WHERE schemaname = current_schema()
                  AND tablename LIKE 'procrastinate%' LOOP EXECUTE thing; END LOOP;
              FOR thing IN SELECT format('DROP FUNCTION %s CASCADE', oid::regprocedure)
                  FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
                  AND proname LIKE 'procrastinate%' LOOP EXECUTE thing; END LOOP;
              FOR thing IN SELECT format('DROP TYPE IF EXISTS %I CASCADE', typname)
                  FROM pg_type WHERE typnamespace = current_schema()::regnamespace
                  AND typname LIKE 'procrastinate%' AND typtype IN ('e', 'c')
                  LOOP EXECUTE thing; END LOOP;
            END $$
            """
        )
    )

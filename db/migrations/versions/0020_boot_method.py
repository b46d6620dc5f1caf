"""How each boot is made: through the firmware, as all were before, or by kexec."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("arm", sa.Column("boot_method", sa.String(), nullable=True))
    op.add_column("boot", sa.Column("method", sa.String(), server_default="reset", nullable=False))
    op.create_check_constraint(
        op.f("ck_arm_boot_method"), "arm", "boot_method IN ('reset', 'kexec')"
    )
    op.create_check_constraint(op.f("ck_boot_method"), "boot", "method IN ('reset', 'kexec')")


def downgrade() -> None:
    op.drop_constraint(op.f("ck_boot_method"), "boot", type_="check")
    op.drop_constraint(op.f("ck_arm_boot_method"), "arm", type_="check")
    op.drop_column("boot", "method")
    op.drop_column("arm", "boot_method")

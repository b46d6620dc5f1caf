"""Arms that are applied within a boot that they share with the other arms of their block."""

from __future__ import annotations

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

CHECKS = (("arm", "ck_arm_boot_method", "boot_method"), ("boot", "ck_boot_method", "method"))


def upgrade() -> None:
    _allow("'reset', 'kexec', 'within'")


def downgrade() -> None:
    """Take the word back; what was applied within a boot counts as booted, which it was not."""
    op.execute("UPDATE arm SET boot_method = NULL WHERE boot_method = 'within'")
    op.execute("UPDATE boot SET method = 'reset' WHERE method = 'within'")
    _allow("'reset', 'kexec'")


def _allow(words: str) -> None:
    for table, constraint, column in CHECKS:
        op.drop_constraint(op.f(constraint), table, type_="check")
        op.create_check_constraint(op.f(constraint), table, f"{column} IN ({words})")

"""The worst effect of an experiment says whether it is a bound; of a bound no size is said."""

from __future__ import annotations

from alembic import op

revision = "0072"
down_revision = "0071"

# What is concluded already has its bound in the words of its headline.
_KNOWN = """
    UPDATE experiment SET worst_bound = CASE WHEN headline LIKE '%at least%' THEN 'at_least'
        WHEN headline LIKE '%at most%' THEN 'at_most' ELSE 'exact' END
    WHERE worst_effect_percent IS NOT NULL
"""


# What is at least so much may be any size above.
_WITHIN = """
    UPDATE verdict SET note = ltrim(regexp_replace(note, '(^|; )real, yet within ±[^;]*', ''), '; ')
    WHERE bound <> 'exact' AND note LIKE '%real, yet within%'
"""


def upgrade() -> None:
    op.execute(
        "ALTER TABLE experiment ADD COLUMN worst_bound character varying NOT NULL DEFAULT 'exact'"
    )
    op.execute(_KNOWN)
    op.execute(_WITHIN)


def downgrade() -> None:
    op.execute("ALTER TABLE experiment DROP COLUMN worst_bound")

"""Reports of stored experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from mitigauge.claims.schemas import ClaimSourceView
from mitigauge.claims.service import claims_beside_view
from mitigauge.reports.matrix import render_markdown, render_text
from mitigauge.views.consequence_schemas import ConsequencesView
from mitigauge.views.consequences import consequences_beside
from mitigauge.views.profile_schemas import CaseProfilesView
from mitigauge.views.profiles import profiles_beside
from mitigauge.views.schemas import ExperimentView


@dataclass(frozen=True, slots=True)
class Report:
    """An experiment with published claims, explaining functions and costs beside it."""

    view: ExperimentView
    claims: Sequence[ClaimSourceView]
    profiles: Sequence[CaseProfilesView]
    beside: ConsequencesView

    def text(self) -> str:
        """For a mailing list."""
        return render_text(self.view, self.claims, self.profiles, self.beside)

    def markdown(self) -> str:
        """The same as Markdown."""
        return render_markdown(self.view, self.claims, self.profiles, self.beside)


def gathered(session: Session, view: ExperimentView) -> Report:
    """The report of *view*, with all that stands beside it."""
    return Report(
        view,
        claims_beside_view(session, view),
        profiles_beside(session, view),
        consequences_beside(session, view),
    )

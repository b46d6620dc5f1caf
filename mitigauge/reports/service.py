"""Reports of stored experiments."""

from __future__ import annotations

from sqlalchemy.orm import Session

from mitigauge.claims.service import claims_beside
from mitigauge.experiments.schemas import ExperimentView
from mitigauge.profiles.service import profiles_beside
from mitigauge.reports.matrix import render_markdown, render_text


def report_text(session: Session, view: ExperimentView) -> str:
    """The report for a mailing list, with published claims and explaining functions."""
    return render_text(view, claims_beside(session, view.id), profiles_beside(session, view))


def report_markdown(session: Session, view: ExperimentView) -> str:
    """The same as Markdown."""
    return render_markdown(view, claims_beside(session, view.id), profiles_beside(session, view))

"""What entries of the audit log are about. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """What was done. Words that were written once stay: entries are never altered."""

    EXPERIMENT_SUBMIT = "experiment.submit"
    EXPERIMENT_CANCEL = "experiment.cancel"
    EXPERIMENT_BEGIN = "experiment.begin"
    EXPERIMENT_END = "experiment.end"
    EXPERIMENT_IMPORT = "experiment.import"
    EXPERIMENT_JUDGE = "experiment.judge"
    JOB_ASK = "job.ask"
    JOB_BEGIN = "job.begin"
    JOB_END = "job.end"
    JOB_CANCEL = "job.cancel"
    HOST_SET_ASIDE = "host.set-aside"
    HOST_RESUME = "host.resume"
    HOST_RESERVE = "host.reserve"
    HOST_RELEASE = "host.release"
    TOKEN_CREATE = "token.create"
    TOKEN_REVOKE = "token.revoke"
    SESSION_BEGIN = "session.begin"
    SESSION_END = "session.end"
    SERIES_ADD = "series.add"
    SERIES_SET = "series.set"
    SERIES_APPROVE = "series.approve"
    SERIES_RETEST = "series.retest"
    REQUEST_DECIDE = "request.decide"
    REQUEST_APPROVE = "request.approve"
    REQUEST_IGNORE = "request.ignore"
    KERNEL_IMPORT = "kernel.import"
    KERNEL_REMOVE = "kernel.remove"
    BISECTION_START = "bisection.start"
    BISECTION_CANCEL = "bisection.cancel"
    BISECTION_END = "bisection.end"
    TREND_ANNOTATE = "trend.annotate"
    TREND_ACCEPT = "trend.accept"
    REGRESSION_FILE = "regression.file"
    REGRESSION_CHANGE = "regression.change"
    SUBSCRIPTION_ADD = "subscription.add"
    SUBSCRIPTION_PAUSE = "subscription.pause"
    SUBSCRIPTION_RESUME = "subscription.resume"
    SUBSCRIPTION_REMOVE = "subscription.remove"
    CLAIMS_IMPORT = "claims.import"
    PROFILE_IMPORT = "profile.import"
    REPORT_MAKE = "report.make"
    MAIL_SEND = "mail.send"
    BACKUP_TAKE = "backup.take"
    BACKUP_REMOVE = "backup.remove"
    BACKUP_RESTORE = "backup.restore"
    DATABASE_PRUNE = "database.prune"
    DATABASE_UPGRADE = "database.upgrade"


class SubjectKind(StrEnum):
    """What kind of thing was changed."""

    EXPERIMENT = "experiment"
    JOB = "job"
    HOST = "host"
    TOKEN = "token"
    SESSION = "session"
    SERIES = "series"
    REQUEST = "request"
    KERNEL = "kernel"
    BISECTION = "bisection"
    TREND = "trend"
    REGRESSION = "regression"
    SUBSCRIPTION = "subscription"
    CLAIMS = "claims"
    PROFILE = "profile"
    REPORT = "report"
    MAIL = "mail"
    BACKUP = "backup"
    DATABASE = "database"


@dataclass(frozen=True, slots=True)
class Subject:
    """What was changed: its kind, and its number or name."""

    kind: SubjectKind
    name: str | int

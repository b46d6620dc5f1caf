"""A mail that asks for a test of a stored series and that nothing proves, as a mailbox gives it."""

from __future__ import annotations

from sqlalchemy import Engine

from mitigauge.core.settings import get_settings
from mitigauge.kernels.mails.reader import mail_of
from mitigauge.storage.database.engine import transaction
from mitigauge.storage.files.blobs import blob_store
from mitigauge.tracking.series import request_service
from mitigauge.tracking.series.request import request_in
from mitigauge.tracking.series.request_service import IncomingRequest, Means
from mitigauge.tracking.series.states import Attested
from mitigauge.tracking.studies.service import ask_by_mail
from tests.series_mails import raw_mail


def waiting_request(engine: Engine, *, parent: str = "", body: str = "#mitigauge test\n") -> int:
    """Its number."""
    mail = mail_of(raw_mail("Re: a series", body, parent=parent, ident=f"ask-{len(body)}"))
    asked = request_in(mail)
    assert asked is not None
    came = IncomingRequest(mail, asked, allowed=True, attested=Attested.MISSING)
    with transaction(engine) as session:
        row, _ = request_service.take(
            session, came, Means(blob_store(get_settings()), {}, ask_by_mail)
        )
        assert row is not None
        return row.id

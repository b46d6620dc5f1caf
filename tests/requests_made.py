"""A mail that asks for a test of a stored series and that nothing proves, as a mailbox gives it."""

from __future__ import annotations

from sqlalchemy import Engine

from mitigauge.database.engine import transaction
from mitigauge.files.blobs import blob_store
from mitigauge.mails.reader import mail_of
from mitigauge.series import request_service
from mitigauge.series.request import request_in
from mitigauge.series.request_service import IncomingRequest, Means
from mitigauge.series.states import Attested
from mitigauge.settings import get_settings
from tests.series_mails import raw_mail


def waiting_request(engine: Engine, *, parent: str = "", body: str = "#mitigauge test\n") -> int:
    """Its number."""
    mail = mail_of(raw_mail("Re: a series", body, parent=parent, ident=f"ask-{len(body)}"))
    asked = request_in(mail)
    assert asked is not None
    came = IncomingRequest(mail, asked, allowed=True, attested=Attested.MISSING)
    with transaction(engine) as session:
        row, _ = request_service.take(session, came, Means(blob_store(get_settings()), {}))
        assert row is not None
        return row.id

"""A digest on its way: written down, sent by mail or webhook, written down again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine

from mitigauge.core.errors import MitigaugeError
from mitigauge.core.logs.logger import get_logger
from mitigauge.core.settings import Settings
from mitigauge.reporting.deliveries.service import Standing
from mitigauge.reporting.deliveries.states import DeliveryAnswer, DeliveryState
from mitigauge.reporting.letters.weekly.mail import addressed
from mitigauge.reporting.subscriptions import digest_service
from mitigauge.reporting.subscriptions.digest_service import Begun
from mitigauge.reporting.subscriptions.signature import signed_heads
from mitigauge.reporting.subscriptions.states import TellWay
from mitigauge.reporting.subscriptions.webhook_url import read_networks
from mitigauge.reporting.subscriptions.wording import Told, body_of, mail_of
from mitigauge.storage.database.engine import transaction
from pipelines.adapters import webhook
from pipelines.mail_post import post

log = get_logger(__name__)

# How a mail's delivery is called before the digest's number.
DELIVERY = "digest-"


@dataclass(frozen=True, slots=True)
class DigestPost:
    """Sends digests as the settings say."""

    engine: Engine
    settings: Settings

    def send_next(self) -> bool:
        """Send one whose time has come; False where there is none.

        No transaction is open and no lock is held while the other side is waited for.
        """
        with transaction(self.engine) as session:
            begun = digest_service.begin_next(session)
        if begun is None:
            return False
        answer = self._answer(begun)
        with transaction(self.engine) as session:
            state = digest_service.end(session, begun, answer)
        log.info("digest", digest=begun.id, way=str(begun.way), state=str(state), said=answer.said)
        return True

    def _answer(self, begun: Begun) -> DeliveryAnswer:
        base = self.settings.public_url.rstrip("/")
        told = Told(
            begun.id, begun.owner, begun.made_at, begun.lines, begun.left_out, base,
        )  # fmt: skip
        try:
            if begun.way is TellWay.MAIL:
                return self._by_mail(begun, told)
            return self._by_webhook(begun, told)
        except MitigaugeError as error:
            # A setting is wrong; whoever runs the service may mend it within the day.
            return DeliveryAnswer(DeliveryState.LATER, error.message)

    def _by_webhook(self, begun: Begun, told: Told) -> DeliveryAnswer:
        body = body_of(told)
        # The same each time that it is tried.
        headers = signed_heads(begun.secrets, f"digest_{begun.id}", body, datetime.now(UTC))
        networks = read_networks(self.settings.webhook_networks)
        return webhook.send(begun.address, body, headers, networks)

    def _by_mail(self, begun: Begun, told: Told) -> DeliveryAnswer:
        settings = self.settings
        if not settings.mail_server or not settings.mail_from:
            return DeliveryAnswer(
                DeliveryState.LATER,
                "this service sends no mail: MITIGAUGE_MAIL_SERVER and MITIGAUGE_MAIL_FROM say how",
            )
        mail = mail_of(told, sender=addressed(settings.mail_from), to=addressed(begun.address))
        standing = post(
            self.engine, f"{DELIVERY}{begun.id}", mail, [begun.address], settings.mail_server,
            encrypted=settings.mail_encrypted,
        )  # fmt: skip
        return _answer_of(standing, begun.address)


def _answer_of(standing: Standing, receiver: str) -> DeliveryAnswer:
    for state, receivers in standing.by_state.items():
        if receiver in receivers:
            # Another one hands it over just now: what comes of that is asked for later.
            known = DeliveryState.LATER if state is DeliveryState.BEGUN else state
            return DeliveryAnswer(known, receivers[receiver])
    return DeliveryAnswer(DeliveryState.LATER, "not handed over")

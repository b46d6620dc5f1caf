"""A client of a service, for programs: typed, and of the standard library alone."""

from mitigauge.client.operations import Client
from mitigauge.client.transport import ServiceError, pages

__all__ = ["Client", "ServiceError", "pages"]

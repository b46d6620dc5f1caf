"""Who a Redfish controller must prove to be: an authority's word, or one pinned certificate."""

from __future__ import annotations

import hashlib
import ssl
import warnings

from mitigauge.measurement.fleet.power_values import RedfishPowerValues
from pipelines.adapters.power.protocol import PowerError

# Without anonymous ones: there the controller would show no certificate at all.
_OLD_CIPHERS = "DEFAULT:!aNULL:!eNULL:!PSK:!SRP:@SECLEVEL=0"
# Python names it from 3.12 on.
_LEGACY_SERVER_CONNECT = getattr(ssl, "OP_LEGACY_SERVER_CONNECT", 0x4)


def context_of(values: RedfishPowerValues) -> ssl.SSLContext:
    """What trusts the controller of *values*, and nothing else.

    Raises :class:`PowerError` for a ``ca_file`` that cannot be used.
    """
    if values.certificate_sha256 is not None:
        return _pinned(values.certificate_sha256)
    try:
        return ssl.create_default_context(cafile=values.ca_file)
    except (OSError, ssl.SSLError) as error:
        raise PowerError(
            f"The file {values.ca_file} of the controller's authority cannot be used: "
            f"{error.strerror or error}.",
            hint="ca_file takes certificates in PEM form, readable for the worker's user.",
        ) from error


def _pinned(digest: str) -> ssl.SSLContext:
    """A context that takes one certificate by its SHA-256, whatever its name, age, form and key.

    TLS may be as old as 1.0 then: whoever lacks the certificate's key cannot complete it.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with warnings.catch_warnings():
        # Old TLS is the purpose here.
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers(_OLD_CIPHERS)
    context.options |= _LEGACY_SERVER_CONNECT

    class Pinned(ssl.SSLObject):
        """A connection that ends with its handshake where another certificate is shown."""

        def do_handshake(self) -> None:
            super().do_handshake()
            shown = hashlib.sha256(self.getpeercert(binary_form=True) or b"").hexdigest()
            if shown != digest:
                refusal = ssl.SSLCertVerificationError(1, "another certificate than the pinned one")
                refusal.verify_message = f"its SHA-256 is {shown}, not certificate_sha256"
                raise refusal

    context.sslobject_class = Pinned
    return context

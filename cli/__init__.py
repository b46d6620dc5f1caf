"""The ``mitigauge`` command: one module a noun."""

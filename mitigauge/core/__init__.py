"""What everything else is said in: the contract with hosts, statistics, documents, effects, clocks.

It knows no database, no network and no table; errors, settings, logs and what is read of YAML and
of hostile text are its only ways to the outside. `wire` travels to hosts and is of the standard
library alone; `stats` and `documents` are pure. Begin with `effect.py`, the one form of an answer,
and `wire/__init__.py`.
"""

"""What keeps a service alive for years: backups and restore, exports and imports, retention.

It knows all tables by the metadata and none by name, but for rules of its own (`retention`). Begin
with `backups/writer.py` and `retention/service.py`.
"""

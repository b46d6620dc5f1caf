"""Where things are kept: PostgreSQL (`database`) and files by their digest (`files`).

It knows how a transaction, a lock, an upgrade and a blob work, and not what any table means: tables
register themselves with `database/base.py`. It may touch the database's server, the disk, object
storage and the namespaces in which hostile files are read. Begin with `database/engine.py` and
`files/blobs.py`.
"""

"""How long backups and restores take, beside pg_dump and cp."""

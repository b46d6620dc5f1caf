"""Database, raw files and the access key as one file, and back; and whether raw files are sound."""

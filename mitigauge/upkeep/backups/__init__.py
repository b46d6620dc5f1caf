"""Database, raw files and the access key as a directory, and back; whether raw files are sound."""

"""The database: engine, column types, locks, schema, and a server of our own."""

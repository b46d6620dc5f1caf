"""Who changed what, when and from where: entries that nobody alters."""

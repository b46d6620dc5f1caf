"""Statistics, pure: boot means, block model, Dunnett, looks, verdicts. See docs/statistics.md."""

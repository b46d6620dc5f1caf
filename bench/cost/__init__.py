"""What `mitigauge cost` predicts, beside switch-offs that are measured on the machine at hand."""

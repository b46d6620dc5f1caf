"""Performance series whose changes are known, and how well detectors find them."""

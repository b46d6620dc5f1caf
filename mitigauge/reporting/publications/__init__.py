"""Results where kernel developers look: KCIDB, patchwork, GitHub. One module a target."""

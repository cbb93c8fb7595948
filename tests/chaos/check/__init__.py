"""The invariants of exactly-once, as pure functions over what was read back."""

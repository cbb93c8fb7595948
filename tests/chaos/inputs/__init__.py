"""What the chaos suite sends: planned records, each with what must become of it."""

"""What is measured, always as a ratio against a named rival in the same run."""

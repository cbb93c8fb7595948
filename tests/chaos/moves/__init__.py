"""The faults: each a function that hurts a running stage once and counts what bit."""

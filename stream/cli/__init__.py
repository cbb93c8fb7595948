"""The command line: one command per file, listed in `registry`."""

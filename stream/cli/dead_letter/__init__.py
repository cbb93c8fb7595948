"""Dead letters on the command line: which one is meant, what became of it, how it is edited."""

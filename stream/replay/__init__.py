"""Dead letters: find them, and put the originals back exactly once."""

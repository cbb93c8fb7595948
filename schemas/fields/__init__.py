"""Every field that a request may hold, level by level, and what becomes of it."""

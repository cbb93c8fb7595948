"""Exactly once, decided in one place: what is done, what goes next, what an outcome means. (docs/exactly-once.md)"""

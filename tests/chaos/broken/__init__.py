"""Negative controls: workers that break one rule of exactly-once each, and must turn the checker red."""

"""Metrics: names and meanings in one table, served for Prometheus by every role."""

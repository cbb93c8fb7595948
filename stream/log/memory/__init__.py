"""The log in this process, for tests: Kafka's semantics, faults on demand, no waiting."""

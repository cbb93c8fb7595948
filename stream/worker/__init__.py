"""The worker role: one thread owns Kafka and the ledgers, one loop owns the engine."""

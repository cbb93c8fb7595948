"""The log: Kafka or its stand-in in memory."""

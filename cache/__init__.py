"""What is remembered: session keys and the shard map."""

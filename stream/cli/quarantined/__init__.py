"""What was set aside for an operator: partitions whose map cannot be trusted, reply topics that refuse."""

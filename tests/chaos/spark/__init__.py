"""A foreign consumer: Spark Structured Streaming reads the results of a chaos run."""

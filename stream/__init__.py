"""How records move: Kafka clients, the embedded broker, exactly-once, dispatcher, worker, command line."""

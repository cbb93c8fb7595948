"""The log over Apache Kafka, by confluent-kafka."""

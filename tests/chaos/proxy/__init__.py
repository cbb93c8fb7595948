"""A TCP proxy that understands enough of Kafka's protocol to lose exactly the answer it was told to lose."""

"""What travels: requests, results, dead letters, usage; JSON and Avro codecs; the schema registry."""

"""The client of the bus: lines in, answers out, how far everything is."""

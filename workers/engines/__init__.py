"""The engines behind one interface."""

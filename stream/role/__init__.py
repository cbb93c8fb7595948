"""What every role has around it, whatever it does: signals, and where faults are injected."""

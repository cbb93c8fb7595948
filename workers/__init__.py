"""Who does the work: engines, their calls, retries, poison, the journal."""

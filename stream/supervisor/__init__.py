"""One machine's installation under one supervisor: broker, dispatchers and workers as child processes."""

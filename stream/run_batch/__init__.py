"""`headrace run-batch`: a file of requests in, a file of answers out, over the bus; it goes on after any kill."""

"""What `headrace status` tells: processes, lanes, lag, running, rate and time left."""

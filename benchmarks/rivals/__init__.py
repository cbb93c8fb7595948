"""The rivals: each does a part of the job in the plainest way."""

"""The one door to the work topics: read inputs, validate, route, all of it exactly once."""

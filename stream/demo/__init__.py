"""The demo: the main job end to end on one machine, from records in to a tally of answers out."""

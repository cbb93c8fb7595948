"""From finished answers to transactions: what goes next, what a failure means, what an unknown outcome was."""

"""Processes of ours: started in groups of their own, tied to their parent, ended as groups."""

from stream.processes.child import Child
from stream.processes.identity import Identity, identity_of, started_of

__all__ = ["Child", "Identity", "identity_of", "started_of"]

"""The dispatcher's own bounds, each with its unit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DispatcherLimits:
    """Defaults are for production; tests shorten waits."""

    #: A poll that finds nothing gives up after so long: what a stop signal may have to wait.
    poll_s: float = 0.2
    #: Offsets alone (markers, aborted records) are committed so late, to share a transaction with records.
    gap_commit_s: float = 0.1
    #: Reading committed offsets waits for a predecessor's open transaction: it may take its whole timeout to end.
    offsets_s: float = 60.0
    #: One attempt of it.
    offsets_try_s: float = 5.0
    init_s: float = 60.0
    #: Pause after the first abort in a row; doubled with each, up to the next bound.
    back_off_s: float = 0.025
    back_off_max_s: float = 1.0
    #: Own topics are never set aside: aborts in a row for so long end the process, which alarms.
    aborts_max_s: float = 120.0
    #: A partition that waits for the schema registry, or for a look at a topic, tries again after this, doubled up to …
    wait_s: float = 0.25
    #: … this. Short: a registry that is silent is asked once a second at most, whoever waits for it.
    wait_max_s: float = 2.0
    #: Lag is looked at so often.
    lag_every_s: float = 5.0
    lag_timeout_s: float = 1.0
    #: Partitions set aside are looked at again so often: an operator may have mended them.
    quarantine_every_s: float = 10.0
    #: The group's coordinator is asked so often, at rest too: a client that has lost it must be noticed.
    coordinator_every_s: float = 60.0
    #: The retention of the inputs is read so often.
    retention_every_s: float = 60.0

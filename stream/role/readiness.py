"""What a role tells of itself: to its supervisor in a file, to others at /readyz."""

from __future__ import annotations

from stream.metrics.server import MetricsServer
from stream.process_context import ProcessContext
from stream.role.permanent_errors import is_lasting
from stream.role.report import RoleState, report


class Readiness:
    """State and phase of one role. Phases may be said by any thread while another waits for the start."""

    def __init__(self, place: ProcessContext, server: MetricsServer) -> None:
        self._place = place
        self._server = server
        self._state: RoleState = "starting"
        self._phase: str | None = None
        server.ready_when(self.why_not_ready)

    def state(self, state: RoleState) -> None:
        """It changes to this state."""
        self._state, self._phase = state, None
        report(self._place, state, self._server.url)

    def phase(self, words: str) -> None:
        """What it does until it runs."""
        self._phase = words
        report(self._place, self._state, self._server.url, phase=words)

    def ends(self, error: Exception) -> None:
        """It is about to end by this error."""
        lasting = is_lasting(error)
        report(self._place, "draining", self._server.url, reason=str(error), lasting=lasting)

    def why_not_ready(self) -> str | None:
        """For /readyz."""
        if self._state == "running":
            return None
        return f"{self._state}: {self._phase}" if self._phase else self._state

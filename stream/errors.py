"""Errors of `stream`.

StreamError
+-- ConfigError          the configuration is wrong: every finding with its place; exit 2
+-- UsageError           the command line asks for what is not there, or not in this version; exit 2
+-- BrokerError          the embedded broker cannot be had or does not start; the message says why
+-- LogError             the log (Kafka) refused or failed
|   +-- LogTimeout       it did not answer in time; trying again is allowed
|   +-- LogFenced        another process owns our slot; exit 4
|   |   +-- MemberFenced   so says the group, which may err: ask the producer (`is_fenced`)
|   +-- TopicMismatch    a topic is not as the service needs it: says what to do
|   +-- ClientSilent     our own client has no answer though others have: only a new process helps
|   +-- LoginRefused     the broker does not take our login, or we not its certificate
|   +-- RightMissing     the broker does not allow what a role must do: says which right on what, and what to do
+-- LedgerBroken         an invariant of exactly-once does not hold: the process must end
+-- TooManyHeaders       a record has more headers than are read: it gets a dead letter
+-- MapUnreadable        a partition's offset map cannot be trusted: that partition is quarantined
+-- WaitedTooLong        a --timeout passed before it was done; exit 3
"""

from __future__ import annotations

from schemas.headers import Headers
from schemas.weight import HEADERS_MAX


class StreamError(Exception):
    """Root of the package's errors."""

    exit_code = 1


class ConfigError(StreamError):
    """Wrong configuration; one line a finding."""

    exit_code = 2


class UsageError(StreamError):
    """A wrong or unknown command or argument."""

    exit_code = 2


class BrokerError(StreamError):
    """No broker."""


class LogError(StreamError):
    """Kafka refused or failed."""


class LogTimeout(LogError):
    """Kafka did not answer in time."""


class LogFenced(LogError):
    """Another process owns the slot."""

    exit_code = 4


class MemberFenced(LogFenced):
    """The group gave our instance id to another member: a twin, or a join of our own whose answer was lost.

    A twin has fenced our transactional id before it joined: `LogProducer.is_fenced` tells the two apart. Without
    a twin this is no more than a reason to start again.
    """


class TopicMismatch(LogError):
    """A topic is not as the service needs it."""


class ClientSilent(LogError):
    """The broker answers others, and our client of this process no more: it must end, to be started again."""


class LoginRefused(LogError):
    """The broker does not let us in."""


class RightMissing(LogError):
    """The broker does not allow what a role must do."""


class LedgerBroken(StreamError):
    """Our own bug: never go on."""


class TooManyHeaders(StreamError):
    """Asked for a record's headers: they are not kept, but for those that ask something of the service.

    `kept`: of these the last of each name; `size_bytes`: names and values of all.
    """

    def __init__(self, count: int, size_bytes: int, kept: Headers) -> None:
        super().__init__(f"{count} headers; at most {HEADERS_MAX} are read")
        self.count = count
        self.size_bytes = size_bytes
        self.kept = kept


class MapUnreadable(StreamError):
    """An offset map that cannot be trusted."""


class WaitedTooLong(StreamError):
    """A time limit of the command line passed."""

    exit_code = 3

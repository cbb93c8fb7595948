"""Headrace for programs: `from headrace import Client`."""

from headrace.own_packages import refuse_shadowed

refuse_shadowed()

from schemas.source import Source
from stream.client.addressing import Addressing, Given
from stream.client.answer import Answer
from stream.client.answers import Answers
from stream.client.async_client import AsyncClient
from stream.client.client import Client
from stream.client.errors import AnswersMissing, NotDelivered, NotSubmitted, OutcomeUnknown
from stream.client.fake_service import FakeService
from stream.client.progress import Progress
from stream.errors import ConfigError, LogError, LogTimeout, StreamError, UsageError, WaitedTooLong

__all__ = [
    "Addressing",
    "Answer",
    "Answers",
    "AnswersMissing",
    "AsyncClient",
    "Client",
    "ConfigError",
    "FakeService",
    "Given",
    "LogError",
    "LogTimeout",
    "NotDelivered",
    "NotSubmitted",
    "OutcomeUnknown",
    "Progress",
    "Source",
    "StreamError",
    "UsageError",
    "WaitedTooLong",
]

"""Records whose headers cannot be given: a name among them is not UTF-8, or they are too many.

confluent-kafka 2.16 answers the first question with a SystemError (of a UnicodeDecodeError), every later one with a list
that has a hole where the name was (seen): touching that kills the process. So each record is asked once, here, one after
the other: what weighs too much goes before the next is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import length_hint

from confluent_kafka import Message

from schemas.headers import Headers
from schemas.weight import KEPT_HEADERS_MAX
from stream.log.base import Record
from stream.log.crowded import Crowded


class Unnamed:
    """A `Record` that says at every question that its headers cannot be given."""

    def __init__(self, message: Message, wrong: UnicodeDecodeError) -> None:
        self.topic = message.topic
        self.partition = message.partition
        self.offset = message.offset
        self.key = message.key
        self.value = message.value
        self.timestamp = message.timestamp
        self.leader_epoch = message.leader_epoch
        self._wrong = wrong

    def headers(self) -> Headers | None:
        raise UnicodeDecodeError(*self._wrong.args)


def asked_once(messages: list[Message]) -> Sequence[Record]:
    """The same records, those whose headers cannot be given as `Unnamed`. Those with too many as `Crowded`. The hot path."""
    records: list[Record] = messages
    left = iter(messages)
    while True:
        try:
            for headers in map(Message.headers, left):
                if headers and len(headers) > KEPT_HEADERS_MAX:
                    place = len(messages) - length_hint(left) - 1
                    records[place] = Crowded(messages[place], headers)
        except (SystemError, UnicodeDecodeError) as raised:
            wrong = raised if isinstance(raised, UnicodeDecodeError) else raised.__cause__
            if not isinstance(wrong, UnicodeDecodeError):
                raise
            place = len(messages) - length_hint(left) - 1
            records[place] = Unnamed(messages[place], wrong)
        else:
            return records

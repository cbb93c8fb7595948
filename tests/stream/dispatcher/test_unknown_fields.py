"""An input decides what becomes of fields that nobody knows."""

from __future__ import annotations

from schemas.failure import ErrorClass
from stream.config.settings import InputBinding
from tests.stream.dispatcher.stage import Stage, bound, line

ODD = line(body_max_token=5)


def test_they_are_routed_as_they_are() -> None:
    stage = Stage(bound(InputBinding("reviews.*")))
    stage.topic("reviews.new")
    stage.send(ODD, topic="reviews.new")
    stage.dispatch()
    assert [work.value for work in stage.work] == [ODD]


def test_an_input_may_refuse_them_with_the_nearest_name() -> None:
    stage = Stage(bound(InputBinding("reviews.*", unknown_fields="refuse")))
    stage.topic("reviews.new")
    stage.send(ODD, topic="reviews.new")
    stage.send(line(), topic="reviews.new")
    stage.dispatch()
    assert [work.value for work in stage.work] == [line()]
    (letter,) = stage.dead
    assert letter.failure.error_class is ErrorClass.INVALID
    assert 'nearest is "max_tokens"' in letter.failure.message

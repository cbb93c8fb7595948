"""The real service, end to end: every bad record costs exactly one dead letter and nothing else; odd ones are answered."""

from __future__ import annotations

import json

import pytest
from confluent_kafka import Message

from schemas.dead_letter import parse_dead_letter
from tests.acceptance.case import Case
from tests.acceptance.play import CASES, DEAD_LETTERS, NEIGHBOUR, Outcome, play

pytestmark = [pytest.mark.broker, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return play(tmp_path_factory.mktemp("service"))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.dies_as])
def test_a_bad_record_costs_one_dead_letter_with_its_original_bytes(name: str, outcome: Outcome) -> None:
    [(topic, message)] = outcome.of(name)
    assert topic == DEAD_LETTERS, message.value()
    letter = parse_dead_letter(message.key(), message.value(), message.headers())
    case = CASES[name]
    found = (str(letter.failure.error_class), str(letter.failure.stage))
    assert found == case.dies_as, letter.failure.message
    assert (letter.key, letter.value) == (case.key, case.value)
    assert letter.original_headers == list(case.headers)
    assert letter.failure.message.isprintable(), letter.failure.message


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.dies_as])
def test_an_odd_but_good_record_is_answered(name: str, outcome: Outcome) -> None:
    [(topic, message)] = outcome.of(name)
    assert_answers(CASES[name], topic, message)


def test_every_good_neighbour_is_answered_once(outcome: Outcome) -> None:
    neighbours = {place: case for place, case in outcome.sent.items() if case.name == NEIGHBOUR}
    assert neighbours
    for place, case in neighbours.items():
        [message] = outcome.outputs[place]
        assert_answers(case, str(message.topic()), message)


def test_nothing_comes_out_that_was_not_put_in(outcome: Outcome) -> None:
    assert outcome.outputs.keys() == outcome.sent.keys()


def test_a_registry_that_is_down_is_waited_for_and_stops_nothing_else(outcome: Outcome) -> None:
    assert "Avro with a registry that was down" not in outcome.answered_while_down
    assert {"plain Avro", NEIGHBOUR} <= outcome.answered_while_down


def test_no_transaction_is_left_open(outcome: Outcome) -> None:
    assert outcome.open_ends == {}


def test_no_process_died_of_it(outcome: Outcome) -> None:
    before, after = outcome.processes
    assert before == after


def test_an_odd_state_directory_holds_the_data(outcome: Outcome) -> None:
    assert outcome.data_in_place


def assert_answers(case: Case, topic: str, message: Message) -> None:
    """`message` is the result of `case`, where it should be, with key and headers as they were."""
    assert topic == case.answered_on, message.headers()
    answer = json.loads(message.value())
    assert (answer["response"]["status_code"], answer["error"]) == (200, None)
    assert answer.get("custom_id") == case.custom_id
    assert message.key() == case.key
    theirs = [header for header in message.headers() or [] if not header[0].startswith("headrace-")]
    assert theirs == [header for header in case.headers if not header[0].startswith("headrace-")]

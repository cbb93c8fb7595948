"""Globs with literal dots, regexes, and whether two of them can meet."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.config.patterns import TopicPattern, common_topic

globs = st.text("ab.*", min_size=1, max_size=8)


def test_a_dot_in_a_glob_is_a_dot() -> None:
    pattern = TopicPattern("reviews.*")
    assert pattern.subscription == r"^reviews\..*$"
    assert pattern.matches("reviews.de.new")
    assert not pattern.matches("reviewsXde")


def test_a_name_is_only_itself() -> None:
    assert TopicPattern("a.b").matches("a.b")
    assert not TopicPattern("a.b").matches("a.bc")


def test_a_regex_goes_to_the_client_as_it_stands() -> None:
    pattern = TopicPattern("^a[0-9]+")
    assert pattern.subscription == "^a[0-9]+"
    assert pattern.matches("a12-old")


@given(globs, globs)
def test_what_two_globs_share_is_covered_by_both(one: str, two: str) -> None:
    topic = common_topic(TopicPattern(one), TopicPattern(two))
    if topic is not None:
        assert TopicPattern(one).matches(topic)
        assert TopicPattern(two).matches(topic)


@given(globs, globs, st.text("ab.", max_size=8))
def test_globs_that_share_a_name_are_found_to_share_one(one: str, two: str, topic: str) -> None:
    def covers(glob: str) -> bool:
        return re.fullmatch(re.escape(glob).replace(r"\*", ".*"), topic) is not None

    if covers(one) and covers(two):
        assert common_topic(TopicPattern(one), TopicPattern(two)) is not None


@pytest.mark.parametrize(
    ("one", "two"), [("^eu-.*", "eu-*"), ("^eu[.]x", "eu*"), ("^a", "^a.*"), ("x*", "^x0")]
)
def test_a_regex_that_meets_another_pattern_is_tried_on_likely_names(one: str, two: str) -> None:
    assert common_topic(TopicPattern(one), TopicPattern(two)) is not None


def test_long_names_and_globs_of_many_stars_are_compared_all_the_same() -> None:
    long = "ab" * 124
    assert common_topic(TopicPattern(f"{long}*"), TopicPattern(f"*{long}")) == long
    many = TopicPattern("*a" * 124)
    assert common_topic(many, TopicPattern("a*" * 124)) == "a" * 124
    assert many.matches("xa" * 124)
    assert not many.matches("a" * 248 + "b")
    assert common_topic(many, TopicPattern("^a.*b$")) is None


@given(globs, st.text("ab.", max_size=8))
def test_a_glob_covers_what_its_subscription_finds(glob: str, topic: str) -> None:
    pattern = TopicPattern(glob)
    found = topic == glob if pattern.exact else re.search(pattern.subscription, topic) is not None
    assert pattern.matches(topic) == found

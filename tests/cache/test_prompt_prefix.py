"""A prompt's first bytes: bounded work, whatever its form."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cache.prompt_prefix import prompt_prefix
from schemas.request import Body, Message

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
MESSAGES = st.lists(st.builds(Message, st.sampled_from(["user", "assistant"]), TEXT | st.none()), min_size=1)
BODIES = st.one_of(
    st.builds(Body, st.just("m"), MESSAGES),
    st.builds(Body, st.just("m"), prompt=TEXT | st.lists(st.integers(0, 2**31 - 1), min_size=1)),
    st.builds(Body, st.just("m"), input=TEXT | st.lists(TEXT, min_size=1)),
)


@given(BODIES, st.integers(0, 60), st.integers(0, 60))
def test_a_shorter_prefix_is_the_start_of_a_longer_one(body: Body, one: int, other: int) -> None:
    short, long = sorted((one, other))
    prefix = prompt_prefix(body, short)
    assert len(prefix) <= short
    assert prompt_prefix(body, long).startswith(prefix)


@given(BODIES)
def test_a_prompt_shorter_than_the_bound_is_whole(body: Body) -> None:
    assert prompt_prefix(body, 10_000) == prompt_prefix(body, 20_000)


def test_roles_and_texts_stand_one_after_the_other() -> None:
    body = Body("m", [Message("system", "be kind"), Message("user", None)])
    assert prompt_prefix(body, 100) == b"system\nbe kind\nuser\n\n"

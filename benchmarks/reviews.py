"""Review sentences: made here, the same each time, or read from a file that somebody names."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

#: Another seed is another benchmark.
SEED: Final = 20_261_201

_THINGS: Final = (
    "kettle", "lamp", "pair of boots", "rucksack", "office chair", "blender", "keyboard", "tent", "rain coat",
    "bread knife", "bicycle pump", "novel", "desk fan", "phone case", "set of towels", "headset", "toy train",
    "garden hose", "coffee grinder", "yoga mat", "alarm clock", "suitcase", "water bottle", "puzzle",
)  # fmt: skip
_OPENINGS: Final = (
    "I bought this {thing} for my {who} {when}",
    "This {thing} came {when}",
    "We have used the {thing} since {month}",
    "My {who} wanted a {thing}, so I ordered this one {when}",
    "It is the second {thing} that I have from this maker",
    "After reading many opinions I took this {thing}",
)
_WHO: Final = ("sister", "father", "neighbour", "daughter", "colleague", "husband", "aunt", "flatmate")
_WHEN: Final = (
    "in spring",
    "two weeks ago",
    "for a birthday",
    "last month",
    "on a Tuesday",
    "before a long trip",
)
_MONTHS: Final = ("January", "March", "May", "July", "September", "November")
_GOOD: Final = (
    "it does what it promises every single day",
    "the material feels solid and nothing rattles",
    "everybody who sees it asks where it is from",
    "it was ready to use within five minutes",
    "I would order it again without thinking",
)
_PLAIN: Final = (
    "it is neither better nor worse than the old one",
    "the colour is a little darker than in the picture",
    "it works, and there is not much more to say",
    "the size is as described and the box was plain",
    "some parts are fine and others could be simpler",
)
_BAD: Final = (
    "it broke after the third use and nobody answers my letters",
    "the smell did not go away even after a week outside",
    "one screw was missing and the manual shows another model",
    "it is far too small and sending it back cost more than it did",
    "it stopped in the middle of the evening and never started again",
)
_ENDINGS: Final = (
    "", "", " Delivery was quick.", " The price is fair.", " I expected more for that money.", " My cat likes it.",
    " The seller was polite on the phone.", " Next time I will look in a shop first.",
)  # fmt: skip


def made_reviews(count: int) -> list[str]:
    """Good, plain and bad ones in turn, of ten to forty words."""
    random = Random(SEED)
    return [_review(random, (_GOOD, _PLAIN, _BAD)[place % 3]) for place in range(count)]


def read_reviews(file: Path) -> list[str]:
    """A review a line; of lines with tabs the third column, as in the public collections of reviews."""
    lines = file.read_text(encoding="utf-8").splitlines()
    texts = (line.split("\t")[2] if line.count("\t") >= 2 else line for line in lines)
    return [text.strip() for text in texts if text.strip()]


def _review(random: Random, moods: tuple[str, ...]) -> str:
    opening = random.choice(_OPENINGS).format(
        thing=random.choice(_THINGS),
        who=random.choice(_WHO),
        when=random.choice(_WHEN),
        month=random.choice(_MONTHS),
    )
    first, second = random.sample(moods, 2)
    more = f", and {second}" if random.random() < 0.5 else ""
    return f"{opening}: {first}{more}.{random.choice(_ENDINGS)}"

"""The error tree is drawn whole, and the hints for wrong fields name fields that exist."""

from __future__ import annotations

import inspect

import pytest

from cache import errors as cache_errors
from schemas import errors
from schemas.errors import BadRecord, SchemasError
from schemas.explain import RIGHT
from schemas.failure import ErrorClass, Stage
from schemas.request import Body, Line


@pytest.mark.parametrize(
    ("module", "root"), [(errors, SchemasError), (cache_errors, cache_errors.CacheError)]
)
def test_every_error_stands_in_the_tree_and_has_the_root(module: object, root: type[Exception]) -> None:
    found = [
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, Exception) and kind.__module__ == module.__name__  # type: ignore[attr-defined]
    ]
    assert len(found) > 1
    for kind in found:
        assert issubclass(kind, root)
        assert kind.__name__ in (module.__doc__ or "")
        assert kind.__doc__


def test_a_bad_record_carries_its_failure() -> None:
    failure = BadRecord.unreadable("why").failure
    assert (failure.error_class, failure.stage, failure.message) == (
        ErrorClass.UNREADABLE,
        Stage.DECODE,
        "why",
    )


def test_every_hint_is_for_a_field_that_exists() -> None:
    fields = {f"$.{name}" for name in Line.__struct_fields__} | {
        f"$.body.{name}" for name in Body.__struct_fields__
    }
    for path in RIGHT:
        assert path.split("[")[0] in fields

"""Places of keys in every way TOML writes them."""

from __future__ import annotations

from stream.config.toml_lines import lines_of_keys


def test_each_key_is_found_on_its_line() -> None:
    places = lines_of_keys(
        '# first\n[a."b.c"] # table\nx = 1\ny.z = """\n[no]\nq = 1\n"""\n'
        "l = [\n  1,\n  2,\n]\nt = { u = { v = 1 } }\n[[arr]]\nw = 1\n"
    )
    assert places == {
        ("a",): 2,
        ("a", "b.c"): 2,
        ("a", "b.c", "x"): 3,
        ("a", "b.c", "y"): 4,
        ("a", "b.c", "y", "z"): 4,
        ("a", "b.c", "l"): 8,
        ("a", "b.c", "t"): 12,
        ("a", "b.c", "t", "u"): 12,
        ("a", "b.c", "t", "u", "v"): 12,
        ("arr",): 13,
        ("arr", "w"): 14,
    }

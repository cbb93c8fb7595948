"""The repository stands alone: it names no page and no folder that is not in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = {".py", ".md", ".toml", ".yml", ".yaml", ".json", ".txt", ".sh", ""}
#: Not ours: made by tools, or by running what is here.
PASSED_OVER = {".git", ".venv", ".headrace", "node_modules", "__pycache__"}
PAGE = re.compile(r"(?<![\w/.:-])((?:[\w.-]+/)*[\w.-]+\.md)\b(?!/)")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")


def files() -> Iterator[Path]:
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        hidden = any(part in PASSED_OVER or (part.startswith(".") and part != ".ci") for part in parts)
        if not hidden and path.is_file() and path.suffix in KINDS:
            yield path


def texts() -> Iterator[tuple[Path, str]]:
    for path in files():
        try:
            yield path, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def there(name: str, where: Path) -> bool:
    """From the top of the repository; from where it is named only as a link, or beside it in `docs`."""
    return (ROOT / name).is_file() or (where.parent / name).is_file()


def test_each_page_that_is_cited_is_in_the_repository() -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in texts()
        for name in PAGE.findall(text.replace('"docs" / "', '"docs/'))
        if not there(name, path)
    ]
    assert missing == []


def test_each_link_of_a_page_leads_somewhere() -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {target}"
        for path, text in texts()
        if path.suffix == ".md"
        for target in LINK.findall(text)
        if not (path.parent / target).exists()
    ]
    assert missing == []


def test_nothing_reads_beside_the_repository() -> None:
    """A path that leaves it: two points in a row as a part of a path, in code that runs here."""
    leaves = re.compile(r"""/ ["']\.\.|["'](?:[\w.-]+/)+\.\./""")
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path, text in texts()
        if path.suffix == ".py" and path != Path(__file__).resolve()
        for line in text.splitlines()
        if leaves.search(line)
    ]
    assert found == []

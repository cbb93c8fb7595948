"""The packages that Headrace brings along, and what to say where a folder of the user's own hides one of them."""

from importlib.util import find_spec
from pathlib import Path


def refuse_shadowed() -> None:
    """ImportError that names the folder. Only finds the packages, imports none."""
    ours = Path(__file__).resolve().parents[1]
    for name in ("schemas", "cache", "workers", "stream"):
        spec = find_spec(name)
        found = None if spec is None or spec.origin is None else Path(spec.origin).resolve()
        if found is not None and ours not in found.parents:
            other = found.parent if found.name == "__init__.py" else found
            raise ImportError(
                f"{other} hides Headrace's own package '{name}': rename it, or take it off sys.path"
            )

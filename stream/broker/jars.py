"""The broker's jars: resolved from Maven once, then kept outside any state directory."""

from __future__ import annotations

import fcntl
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from jgo.env import EnvironmentBuilder
from jgo.maven import MavenContext

from stream.errors import BrokerError

#: Not 4.1 to 4.4: with a partition's leader gone for a moment their coordinator takes the partition for deleted, and
#: ends a transaction without its marker there (KAFKA-20734; docs/exactly-once.md).
KAFKA_VERSION = "4.0.2"
LOG4J_VERSION = "2.25.4"
KAFKA = f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}"
#: Kafka's own jars hold slf4j and nothing behind it: without this one and what it needs the broker is mute.
LOG_BINDING = f"org.apache.logging.log4j:log4j-slf4j-impl:{LOG4J_VERSION}"
ATTEMPTS_MAX = 3
#: One request to the repository, seconds.
REQUEST_TIMEOUT_S = 60
#: Waiting for another process's download.
LOCK_TIMEOUT_S = 600
LOCK_POLL_S = 0.1

#: (coordinates, scratch folder) -> the jars.
Resolve = Callable[[str, Path], Sequence[Path]]


def default_cache_dir() -> Path:
    """Shared by all installations of this user."""
    try:
        home = Path.home()
    except RuntimeError as unknown:
        raise BrokerError("nobody knows where the home directory is: set HOME") from unknown
    return home / ".cache" / "headrace" / f"kafka-{KAFKA_VERSION}"


def resolve_with_jgo(coordinates: str, scratch: Path) -> Sequence[Path]:
    """Download a coordinate and all it needs into `scratch`."""
    context = MavenContext(repo_cache=scratch / "repository", timeout=REQUEST_TIMEOUT_S)
    environment = EnvironmentBuilder(context=context, cache_dir=scratch / "cache").from_endpoint(coordinates)
    return sorted(Path(environment.path).glob("*/*.jar"))


def is_downloaded(cache_dir: Path) -> bool:
    """Whether the jars are here, so that no network is needed."""
    return (cache_dir / "jars").is_dir()


def classpath(cache_dir: Path, resolve: Resolve = resolve_with_jgo) -> list[Path]:
    """The broker's jars, downloaded if need be (about 45 MB, once).

    A lock keeps two processes from downloading at once. The folder appears under its name only when it is whole:
    the resolver writes jars in place, so a kill in mid-download would leave a cut one that looks like a good one.
    Raises BrokerError, which names the coordinates and the way round them.
    """
    jars = cache_dir / "jars"
    if not jars.is_dir():
        with _locked(cache_dir):
            if not jars.is_dir():
                _download(cache_dir, jars, resolve)
    return sorted(jars.glob("*.jar"))


@contextmanager
def _locked(cache_dir: Path) -> Iterator[None]:
    cache_dir.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    with (cache_dir / "lock").open("a") as lock:
        while not _try_lock(lock):
            if time.monotonic() > deadline:
                raise BrokerError(
                    f"another process has been downloading into {cache_dir} for {LOCK_TIMEOUT_S} s"
                )
            time.sleep(LOCK_POLL_S)
        yield


def _try_lock(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _download(cache_dir: Path, jars: Path, resolve: Resolve) -> None:
    scratch = cache_dir / "partial"
    for attempt in range(1, ATTEMPTS_MAX + 1):
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            found = [*resolve(KAFKA, scratch), *_logging_only(resolve(LOG_BINDING, scratch))]
            break
        # What the resolver raises for an unreachable repository, a wrong checksum, a broken answer.
        except (OSError, RuntimeError, ValueError, AssertionError) as error:
            if attempt == ATTEMPTS_MAX:
                raise BrokerError(_advice(str(error) or type(error).__name__)) from error
    _check(found)
    whole = scratch / "jars"
    whole.mkdir()
    for jar in found:
        shutil.copyfile(jar, whole / jar.name)
    whole.rename(jars)
    shutil.rmtree(scratch)


def _logging_only(jars: Sequence[Path]) -> list[Path]:
    # The slf4j that it brings along is in Kafka's own set, in the version that Kafka was built with.
    return [jar for jar in jars if jar.name.startswith("log4j-")]


def _check(jars: Sequence[Path]) -> None:
    clients = [jar.name for jar in jars if jar.name.startswith("kafka-clients")]
    if clients != [f"kafka-clients-{KAFKA_VERSION}.jar"]:
        raise BrokerError(
            _advice(f"expected one kafka-clients jar of version {KAFKA_VERSION}, got {clients}")
        )
    if not any(jar.name == f"log4j-slf4j-impl-{LOG4J_VERSION}.jar" for jar in jars):
        raise BrokerError(_advice("the log binding is missing"))


def _advice(reason: str) -> str:
    return (
        f"the embedded broker needs {KAFKA} and {LOG_BINDING} from Maven Central, and they cannot be had: {reason}. "
        "Try again with a network, or name a broker of your own: [kafka] bootstrap_servers in the configuration"
    )

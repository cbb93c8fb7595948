"""The jars of Spark's Kafka source: resolved from Maven once, kept beside the broker's."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from stream.broker.jars import default_cache_dir, resolve_with_jgo

SPARK_VERSION: Final = "4.2.0"
CONNECTOR: Final = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{SPARK_VERSION}"
#: pyspark brings all else; a second copy of it on the class path would clash.
WANTED: Final = ("spark-sql-kafka-0-10", "spark-token-provider-kafka-0-10", "kafka-clients", "commons-pool2")


def connector_jars() -> list[Path]:
    """Downloads them if need be; what jgo raises without a network is the caller's to tell."""
    folder = default_cache_dir().parent / f"spark-kafka-{SPARK_VERSION}"
    if not folder.is_dir():
        scratch = folder.with_suffix(".partial")
        shutil.rmtree(scratch, ignore_errors=True)
        jars = scratch / "wanted"
        jars.mkdir(parents=True)
        for jar in resolve_with_jgo(CONNECTOR, scratch / "resolved"):
            if jar.name.startswith(WANTED):
                shutil.copyfile(jar, jars / jar.name)
        jars.rename(folder)
        shutil.rmtree(scratch)
    return sorted(folder.glob("*.jar"))

"""`python -m tests.chaos.spark.job BOOTSTRAP TOPIC FOLDER JARS`: counts each source of a results topic.

Structured Streaming, read_committed, available now. Prints JSON on its last line: {source: times seen}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from schemas.headers import SOURCE


def session(folder: Path, jars: str) -> SparkSession:
    builder: Any = SparkSession.builder
    made: SparkSession = (
        builder.master("local[1]")
        .appName("headrace-chaos")
        .config("spark.jars", jars)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .getOrCreate()
    )
    return made


def results(spark: SparkSession, bootstrap_servers: str, topic: str) -> DataFrame:
    """One row a record: its source, from the header."""
    read: DataFrame = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .option("kafka.isolation.level", "read_committed")
        .load()
    )
    source = f.expr(f"filter(headers, h -> h.key = '{SOURCE}')[0].value").cast("string")
    return read.select(source.alias("source"))


def main(bootstrap_servers: str, topic: str, folder: Path, jars: str) -> None:
    spark = session(folder, jars)
    counted: dict[str, int] = {}

    def count(batch: DataFrame, _number: int) -> None:
        for row in batch.groupBy("source").count().collect():
            counted[row["source"]] = counted.get(row["source"], 0) + row["count"]

    query = (
        results(spark, bootstrap_servers, topic)
        .writeStream.foreachBatch(count)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    spark.stop()
    sys.stdout.write(json.dumps(counted) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4])

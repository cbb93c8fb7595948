"""Two rivals of the worker around one vLLM engine: `vllm run-batch`, and a plain consumer loop.

Run as its own process: `python -m benchmarks.rivals.vllm_rival ENGINE-FLAGS…` (the flags of `vllm run-batch`). It takes orders on
standard input, one JSON object a line, and answers `RESULT {…}` for each:

    {"do": "run-batch", "input": FILE, "output": FILE}            vLLM's own batch runner on the file
    {"do": "plain", "bootstrap": …, "topic": …, "target": …, "count": N}   one engine call per record, auto-commit

`seconds` is counted with the engine loaded and idle, as for Headrace.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any
from uuid import uuid4


async def serve(arguments: list[str]) -> None:
    """Load the engine, then obey until standard input ends."""
    from vllm.entrypoints.launchers.api_server.entry import build_async_engine_client  # noqa: PLC0415
    from vllm.usage.usage_lib import UsageContext  # noqa: PLC0415

    sys.argv = ["run-batch", "-i", "unused", "-o", "unused", *arguments]
    from vllm.entrypoints.launchers.run_batch import parse_args  # noqa: PLC0415

    args = parse_args()
    async with build_async_engine_client(args, usage_context=UsageContext.OPENAI_BATCH_RUNNER) as engine:
        print("RESULT " + json.dumps({"ready": True}), flush=True)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            order = json.loads(line)
            run = _run_batch if order["do"] == "run-batch" else _plain
            print("RESULT " + json.dumps(await run(engine, args, order)), flush=True)


async def _run_batch(engine: Any, args: Any, order: dict[str, Any]) -> dict[str, float]:
    from vllm.entrypoints.launchers.run_batch import run_batch  # noqa: PLC0415

    args.input_file, args.output_file = order["input"], order["output"]
    begin = time.monotonic()
    await run_batch(engine, args)
    seconds = time.monotonic() - begin
    answers = [json.loads(line) for line in Path(order["output"]).read_text().splitlines()]
    tokens = sum(answer["response"]["body"]["usage"]["completion_tokens"] for answer in answers)
    return {"seconds": seconds, "tokens": tokens, "answers": len(answers)}


async def _plain(engine: Any, _: Any, order: dict[str, Any]) -> dict[str, float]:
    """What most first versions look like: poll, call, produce, next; offsets commit by themselves."""
    from confluent_kafka import Consumer, Producer  # noqa: PLC0415

    server = {"bootstrap.servers": order["bootstrap"]}
    consumer = Consumer(server | {"group.id": f"plain-{uuid4()}", "auto.offset.reset": "earliest"})
    producer = Producer(server)
    consumer.subscribe([order["topic"]])
    first = consumer.poll(30)
    begin, tokens, answers = time.monotonic(), 0, 0
    message = first
    while message is not None:
        text, count = await _answer(engine, json.loads(message.value())["body"])
        producer.produce(order["target"], text.encode(), message.key())
        producer.poll(0)
        tokens, answers = tokens + count, answers + 1
        message = consumer.poll(30) if answers < order["count"] else None
    producer.flush(30)
    seconds = time.monotonic() - begin
    consumer.close()
    return {"seconds": seconds, "tokens": tokens, "answers": answers}


async def _answer(engine: Any, body: dict[str, Any]) -> tuple[str, int]:
    from vllm import SamplingParams  # noqa: PLC0415
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams  # noqa: PLC0415

    structured = body.get("structured_outputs")
    params = SamplingParams(
        temperature=body.get("temperature", 1.0),
        max_tokens=body["max_tokens"],
        output_kind=RequestOutputKind.FINAL_ONLY,
        structured_outputs=StructuredOutputsParams(**structured) if structured else None,
    )
    tokenizer = engine.get_tokenizer()
    prompt = tokenizer.apply_chat_template(body["messages"], add_generation_prompt=True)["input_ids"]
    last = None
    async for output in engine.generate({"prompt_token_ids": prompt}, params, str(uuid4())):
        last = output
    assert last is not None
    return last.outputs[0].text, len(last.outputs[0].token_ids)


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1:]))

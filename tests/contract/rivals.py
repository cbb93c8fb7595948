"""vLLM's own front ends, to compare answers with: `run-batch` started as a module, and its server's class in our process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.contract.engine_stage import EngineStage
from workers.endpoint import Endpoint
from workers.engines.vllm_args import cli_args, engine_args, engine_environment
from workers.models import cache_folder, resolve_model

Body = dict[str, Any]
#: Its calls are read from text; forced ones it leaves to vLLM's base class, as every parser without tags of its own.
TOOL_PARSER = "granite-20b-fc"
BATCH_S_MAX = 700.0


def run_batch(lines: Sequence[Body], endpoint: Endpoint, folder: Path) -> dict[str, Body | None]:
    """Bodies by custom_id, None for a line that it refused; one call at a time."""
    model = resolve_model(endpoint.model, cache_folder(os.environ))
    args = engine_args(endpoint, model) | {"max_num_seqs": 1}
    given, found = folder / "in.jsonl", folder / "out.jsonl"
    given.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    words = ["-m", "vllm.entrypoints.openai.run_batch", "-i", str(given), "-o", str(found), *cli_args(args)]
    tools = ["--enable-auto-tool-choice", "--tool-call-parser", TOOL_PARSER]
    subprocess.run(
        [sys.executable, *words, *tools],
        check=True,
        timeout=BATCH_S_MAX,
        env={**os.environ, **engine_environment(model)},
    )
    answers = map(json.loads, found.read_text(encoding="utf-8").splitlines())
    return {answer["custom_id"]: answer["response"]["body"] for answer in answers}


def own_completions(stage: EngineStage, lines: Sequence[Body]) -> dict[str, Body | None]:
    """The same of completions, which run-batch does not answer: by its server's class, on the stage's engine."""
    from vllm.entrypoints.openai.completion.protocol import (  # noqa: PLC0415
        CompletionRequest,
        CompletionResponse,
    )
    from vllm.entrypoints.openai.completion.serving import OpenAIServingCompletion  # noqa: PLC0415
    from vllm.entrypoints.openai.models.protocol import BaseModelPath  # noqa: PLC0415
    from vllm.entrypoints.openai.models.serving import OpenAIServingModels  # noqa: PLC0415
    from vllm.renderers.online_renderer import OnlineRenderer  # noqa: PLC0415

    engine: Any = stage.engine._replica._engine  # type: ignore[attr-defined]
    renderer = OnlineRenderer(
        engine.model_config,
        engine.renderer,
        request_logger=None,
        chat_template=None,
        chat_template_content_format="auto",
    )
    models = OpenAIServingModels(engine, [BaseModelPath(name="tiny", model_path="tiny")])
    serving = OpenAIServingCompletion(engine, models, online_renderer=renderer, request_logger=None)
    found: dict[str, Body | None] = {}
    for line in lines:
        answer = stage.run(serving.create_completion(CompletionRequest.model_validate(line["body"])))
        found[line["custom_id"]] = answer.model_dump() if isinstance(answer, CompletionResponse) else None
    return found


def own_embeddings(stage: EngineStage, body: Body) -> Body:
    """An embedding by vLLM's server class, on the stage's engine: a batch of its own would be two more engine starts."""
    from pydantic import TypeAdapter  # noqa: PLC0415
    from vllm.entrypoints.openai.models.protocol import BaseModelPath  # noqa: PLC0415
    from vllm.entrypoints.openai.models.serving import OpenAIServingModels  # noqa: PLC0415
    from vllm.entrypoints.pooling.embed.protocol import EmbeddingRequest  # noqa: PLC0415
    from vllm.entrypoints.pooling.embed.serving import ServingEmbedding  # noqa: PLC0415
    from vllm.renderers.chat_utils import ChatTemplateConfig  # noqa: PLC0415

    engine: Any = stage.engine._replica._engine  # type: ignore[attr-defined]
    models = OpenAIServingModels(engine, [BaseModelPath(name="tiny", model_path="tiny")])
    serving = ServingEmbedding(engine, models, request_logger=None, chat_template_config=ChatTemplateConfig())
    answer = stage.run(serving(TypeAdapter(EmbeddingRequest).validate_python(body)))
    found: Body = json.loads(answer.body)
    return found

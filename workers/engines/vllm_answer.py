"""From vLLM's outputs to OpenAI answer bodies, by vLLM's own builders."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from vllm.entrypoints.generate.base.protocol import RequestResponseMetadata
from vllm.entrypoints.openai.chat_completion.serving import OpenAIServingChat
from vllm.entrypoints.openai.completion.serving import OpenAIServingCompletion
from vllm.entrypoints.openai.models.protocol import BaseModelPath
from vllm.entrypoints.openai.models.serving import OpenAIServingModels
from vllm.entrypoints.pooling.utils import get_pooling_output_encoder
from vllm.outputs import PoolingRequestOutput, RequestOutput

from workers.engines.base import Answer, EngineCall, Tokens
from workers.engines.vllm_parsers import Parsers
from workers.engines.vllm_request import Asked
from workers.errors import InvalidOutput, TransientEngineError
from workers.structured.structure import Kind, Structure

#: `stop` and `length` are ends of an answer; these are not: `abort` above all is never published.
_BROKEN: Final = ("abort", "error", None)


class Answers:
    """Builds the bodies of one engine's answers. `engine`: an AsyncLLM that generates."""

    def __init__(self, engine: Any, parsers: Parsers) -> None:
        models = OpenAIServingModels(engine, [BaseModelPath(name="", model_path="")])
        self._tokenizer = engine.renderer.tokenizer
        self._chat = OpenAIServingChat(
            engine,
            models,
            "assistant",
            online_renderer=None,
            request_logger=None,
            chat_template=None,
            chat_template_content_format="auto",
            reasoning_parser=parsers.reasoning,
            enable_auto_tools=True,
            tool_parser=parsers.tools,
            enable_prompt_tokens_details=True,
        )
        self._completion = OpenAIServingCompletion(
            engine, models, online_renderer=None, request_logger=None, enable_prompt_tokens_details=True
        )

    def parser_of(self, asked: Asked) -> Any:
        """What will read the answers to a chat request. Made before it is rendered, as vLLM does."""
        request = asked.model
        kwargs = self._chat._effective_chat_template_kwargs(request)
        return self._chat._make_parser(request, self._tokenizer, kwargs)

    def reasoning_options(self, asked: Asked, parser: Any, prompt: Mapping[str, Any]) -> dict[str, Any]:
        """What the engine must know of the reasoning before a structure begins."""
        kwargs = self._chat._effective_chat_template_kwargs(asked.model)
        options: dict[str, Any] = self._chat._engine_reasoning_kwargs(
            asked.model, parser, kwargs, prompt["prompt_token_ids"]
        )
        return options

    async def chat(
        self, call: EngineCall, asked: Asked, parser: Any, conversation: list[Any], output: RequestOutput
    ) -> dict[str, Any]:
        response = await self._chat.chat_completion_full_generator(
            asked.model,
            _only(output),
            f"chatcmpl-{call.source}",
            call.request.body.model,
            conversation,
            self._tokenizer,
            RequestResponseMetadata(request_id=call.id),
            parser=parser,
        )
        body: dict[str, Any] = response.model_dump()
        return body

    def completion(self, call: EngineCall, asked: Asked, outputs: list[RequestOutput]) -> dict[str, Any]:
        response = self._completion.request_output_to_completion_response(
            outputs,
            asked.model,
            f"cmpl-{call.source}",
            0,
            call.request.body.model,
            self._tokenizer,
            RequestResponseMetadata(request_id=call.id),
        )
        body: dict[str, Any] = response.model_dump()
        return body


def finished(
    body: dict[str, Any], outputs: Sequence[RequestOutput], created_s: int, clamped: Mapping[str, int]
) -> Answer:
    """The answer, with its tokens counted over all prompts and choices."""
    tokens = tokens_of(outputs)
    body["created"] = created_s
    body["usage"]["prompt_tokens_details"] = {"cached_tokens": tokens.cached}
    metrics = outputs[0].metrics
    first_token_s = None if metrics is None else metrics.first_token_latency or None
    return Answer(body, tokens, first_token_s, clamped)


def tokens_of(outputs: Sequence[RequestOutput]) -> Tokens:
    prompt = sum(len(output.prompt_token_ids or ()) for output in outputs)
    answers = sum(len(one.token_ids) for output in outputs for one in output.outputs)
    return Tokens(prompt, answers, sum(output.num_cached_tokens or 0 for output in outputs))


def repeated(output: RequestOutput, copies: int) -> RequestOutput:
    """Greedy answers are all the same: one was computed."""
    if copies > 1:
        output.outputs = [replace(output.outputs[0], index=index) for index in range(copies)]
    return output


def check_ends(outputs: Sequence[RequestOutput], structure: Structure | None, *, forced: bool) -> None:
    """Raise where an output did not end by itself: TransientEngineError, or InvalidOutput if cut in a structure.

    `forced`: nothing may stand beside the structure; a tool parser's leaves room for free text, which may be cut.
    """
    for one in (one for output in outputs for one in output.outputs):
        if one.finish_reason in _BROKEN:
            raise TransientEngineError(f"the engine ended the answer early: {one.finish_reason}")
        if one.finish_reason == "length" and structure is not None:
            if structure.kind is Kind.STRUCTURAL_TAG and not forced:
                continue
            raise InvalidOutput(
                f"max_tokens ended the answer inside its {structure.kind} structure, after {len(one.token_ids)} tokens",
                tokens_of(outputs),
            )


def embeddings(call: EngineCall, asked: Asked, outputs: Sequence[PoolingRequestOutput[Any]]) -> Answer:
    """The answer to an embedding request, one output per input."""
    request = asked.model
    encode = get_pooling_output_encoder(request.encoding_format, request.embed_dtype, request.endianness)
    data = [
        {"object": "embedding", "index": index, "embedding": encode(output)}
        for index, output in enumerate(outputs)
    ]
    tokens = Tokens(sum(len(output.prompt_token_ids) for output in outputs))
    usage = {"prompt_tokens": tokens.input, "total_tokens": tokens.input}
    return Answer({"object": "list", "data": data, "model": call.request.body.model, "usage": usage}, tokens)


async def _only(output: RequestOutput) -> AsyncIterator[RequestOutput]:
    yield output

"""From a request to the token ids of its prompts, by vLLM's own front end."""

from __future__ import annotations

from typing import Any, Final

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.completion.protocol import CompletionRequest
from vllm.entrypoints.serve.engine.protocol import ErrorResponse
from vllm.renderers.online_renderer import OnlineRenderer

from workers.engines.vllm_parsers import Parsers
from workers.engines.vllm_request import Asked, invalid

#: Requests of so many characters are rendered beside the loop, by vLLM's thread: 10 ms and more.
ASIDE_CHARS_MIN: Final = 32 * 1024
NO_AUTO: Final = (
    '$.body.tool_choice: "auto" (meant also where tools come without a tool_choice) needs a parser for this model\'s '
    'calls; ask for "required", a named tool or "none", or set tool_parser in the endpoint\'s configuration'
)


class InPlaceRenderer:
    """A renderer whose asynchronous work is done at once: a thread costs more than a short prompt."""

    def __init__(self, renderer: Any) -> None:
        self._renderer = renderer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._renderer, name)

    async def render_chat_async(self, *args: Any, **options: Any) -> Any:
        return self._renderer.render_chat(*args, **options)

    async def render_cmpl_async(self, *args: Any, **options: Any) -> Any:
        return self._renderer.render_cmpl(*args, **options)


class Rendering:
    """Prompts for a model. `renderer`: vLLM's, of its tokenizer."""

    def __init__(self, model_config: Any, renderer: Any, parsers: Parsers) -> None:
        self._parsers = parsers
        self._in_place = self._online(model_config, InPlaceRenderer(renderer))
        self._aside = self._online(model_config, renderer)

    async def chat(self, asked: Asked) -> tuple[list[Any], list[Any]]:
        """The conversation as the template saw it, and its one prompt."""
        request: ChatCompletionRequest = asked.model
        if request.tool_choice == "auto" and request.tools and not self._parsers.auto:
            raise invalid(NO_AUTO)
        rendered = await self._for(asked).render_chat(request)
        if isinstance(rendered, ErrorResponse):
            raise _refused(rendered)
        conversation, prompts = rendered
        return conversation, prompts

    async def completion(self, asked: Asked) -> list[Any]:
        """A prompt for each that was given."""
        request: CompletionRequest = asked.model
        rendered = await self._for(asked).render_completion(request)
        if isinstance(rendered, ErrorResponse):
            raise _refused(rendered)
        return list(rendered)

    async def embedding(self, asked: Asked) -> list[Any]:
        """A prompt for each input."""
        prompts: list[Any] = await self._for(asked).preprocess_completion(
            asked.model, prompt_input=asked.model.input, prompt_embeds=None
        )
        return prompts

    def _for(self, asked: Asked) -> OnlineRenderer:
        return self._aside if asked.weight >= ASIDE_CHARS_MIN else self._in_place

    def _online(self, model_config: Any, renderer: Any) -> OnlineRenderer:
        return OnlineRenderer(
            model_config,
            renderer,
            request_logger=None,
            chat_template=None,
            chat_template_content_format="auto",
            enable_auto_tools=True,
            tool_parser=self._parsers.tools,
            reasoning_parser=self._parsers.reasoning,
        )


def _refused(response: ErrorResponse) -> Exception:
    error = response.error
    return invalid(f"$.body{f'.{error.param}' if error.param else ''}: {error.message}")

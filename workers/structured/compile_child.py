"""The guarded child: compiles what a request sent us, and may die of it. Run by path, with nothing of ours imported.

It imports once, which takes seconds, and forks: the fork works under limits of time and memory until a piece of work
kills it, then the next fork is there at once.

Speaks JSON lines, one piece of work at a time. `{"kind", "text"}` is compiled. `{"schema", "value", "draft"}`, the first
two JSON text, is validated; `{"check", "draft"}` is a schema that is to be one. Each is answered by two lines:
`{"begun": true}`, then `{"fault": text or null}`, with `"of": "schema"` where a schema cannot be applied, or
`{"died": exit code}`; a death without a beginning was nobody's fault. The first line out is `{"ready": backend}`.
Arguments: a tokenizer folder or "", its vocabulary's size, CPU seconds and bytes of memory for each piece of work. It
ends when its standard input does.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

#: No thread may be alive when we fork, and limits are counted per process.
_THREADS = 1
_PR_SET_PDEATHSIG = 1
#: The fork's exit code then: what is left of its memory is not worth to go on with.
_OUT_OF_MEMORY = 3
_PATH_CHARS_MAX = 200
_MESSAGE_CHARS_MAX = 500
Compile = Callable[[str, str], object]


def main(tokenizer: str, vocabulary: int, cpu_s_max: int, memory_bytes_max: int) -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not look like an answer
    backend, compile_text = _compiler(tokenizer, vocabulary)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _say(answers, {"ready": backend})
    while True:
        worker = os.fork()
        if worker == 0:
            _work(answers, compile_text, cpu_s_max, memory_bytes_max)
            os._exit(0)
        status = os.waitpid(worker, 0)[1]
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return  # the end of the input
        _say(answers, {"died": os.waitstatus_to_exitcode(status)})


def _work(answers: Any, compile_text: Compile, cpu_s_max: int, memory_bytes_max: int) -> None:
    """Until the input ends, or the kernel ends us."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _limit_memory(memory_bytes_max)
    for line in sys.stdin:
        work = json.loads(line)
        _limit_cpu(cpu_s_max)
        _say(answers, {"begun": True})
        _say(answers, _verdict(work, compile_text))


def _say(answers: Any, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def _verdict(work: dict[str, Any], compile_text: Compile) -> dict[str, Any]:
    try:
        if "schema" in work:
            return {"fault": _fault(work["draft"], work["schema"], work["value"])}
        if "check" in work:
            return {"fault": _wrong_schema(work["draft"], json.loads(work["check"]))}
        compile_text(work["kind"], work["text"])
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    except Exception as error:  # every library has its own errors for a structure that is none
        if "bad_alloc" in str(error):
            os._exit(_OUT_OF_MEMORY)
        return {"fault": _words(error), "of": "schema"}
    return {"fault": None}


def _words(error: Exception) -> str:
    """One line, the same each time: without the clock and the source line that xgrammar puts in front."""
    told = re.sub(r"^\[[\d:]+\] \S+:\d+: ", "", str(error))
    return " ".join(told.split())[:1_000] or type(error).__name__


def _fault(draft: str, schema: str, answer: str) -> str | None:
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError) as error:
        return f"the answer is not JSON: {error}"
    return _break(draft, json.loads(schema), value)


def _break(draft: str, schema: Any, value: Any) -> str | None:
    import jsonschema  # noqa: PLC0415 - needed for few
    from referencing import Registry  # noqa: PLC0415

    try:
        error = next(getattr(jsonschema, draft)(schema, registry=Registry()).iter_errors(value), None)
    except RecursionError:
        return "the schema refers to itself without end"
    return None if error is None else f"the answer breaks its schema at {_place(error)}"


def _wrong_schema(draft: str, schema: Any) -> str | None:
    import jsonschema  # noqa: PLC0415

    try:
        getattr(jsonschema, draft).check_schema(schema)
    except RecursionError:
        return "the schema is nested too deeply"
    except jsonschema.SchemaError as error:
        return f"the schema is not a JSON schema, at {_place(error)}"
    return None


def _place(error: Any) -> str:
    """Cut: names and values are the answer's, of any length."""
    return f"{error.json_path[:_PATH_CHARS_MAX]}: {error.message[:_MESSAGE_CHARS_MAX]}"


def _compiler(tokenizer: str, vocabulary: int) -> tuple[str, Compile]:
    try:
        import xgrammar  # noqa: PLC0415 - costs seconds, and is not everywhere
    except ImportError:
        return "re", _compile_plainly
    if tokenizer:
        import transformers  # noqa: PLC0415

        info = xgrammar.TokenizerInfo.from_huggingface(
            transformers.AutoTokenizer.from_pretrained(tokenizer), vocab_size=vocabulary
        )
    else:
        info = xgrammar.TokenizerInfo([bytes([byte]) for byte in range(256)])
    compiler = xgrammar.GrammarCompiler(info, max_threads=_THREADS, cache_enabled=False)
    return "xgrammar", lambda kind, text: _compile(compiler, kind, text)


def _compile(compiler: Any, kind: str, text: str) -> object:
    """As vLLM's own backend does it, with the settings of `workers.engines.vllm_args`."""
    if kind == "json":
        return compiler.compile_json_schema(text, any_whitespace=False, separators=(",", ":"))
    if kind == "regex":
        return compiler.compile_regex(text)
    if kind == "structural_tag":
        return _compile_tag(compiler, text)
    lark = not any("::=" in line.partition("#")[0].partition("//")[0] for line in text.split("\n"))
    return compiler.compile_lark(text) if lark else compiler.compile_grammar(text)


def _compile_tag(compiler: Any, text: str) -> object:
    """Its older form lists the structures and what begins one; the newer is one text."""
    import xgrammar  # noqa: PLC0415

    tag = json.loads(text)
    if "structures" not in tag:
        return compiler.compile_structural_tag(text)
    items = [
        xgrammar.StructuralTagItem(begin=one["begin"], schema=json.dumps(one["schema"]), end=one["end"])
        for one in tag["structures"]
    ]
    return compiler.compile_structural_tag(items, tag["triggers"])


def _compile_plainly(kind: str, text: str) -> object:
    """Without xgrammar only a regex can be judged."""
    return re.compile(text) if kind == "regex" else None


def _limit_memory(more_bytes_max: int) -> None:
    """So much more address space than now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        now_bytes = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now_bytes + more_bytes_max, resource.RLIM_INFINITY))


def _limit_cpu(more_s_max: int) -> None:
    """So many more seconds than now, then the kernel ends us."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit_s = int(used.ru_utime + used.ru_stime) + 1 + more_s_max
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))

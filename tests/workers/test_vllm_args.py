"""A vLLM engine's settings as values; vLLM itself is not needed for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from workers.endpoint import Endpoint
from workers.engines.machine import Machine
from workers.engines.vllm_args import cli_args, engine_args, engine_environment, is_embedder

FAST, SLOW, GPU = (
    Machine(cpu=True, bfloat16=True),
    Machine(cpu=True, bfloat16=False),
    Machine(cpu=False, bfloat16=False),
)


def test_a_cpu_engine_has_a_bounded_cache_small_blocks_and_the_type_its_processor_is_fast_in() -> None:
    args = engine_args(Endpoint("one", slots=7), "folder", FAST)
    assert args["dtype"] == "bfloat16"
    assert engine_args(Endpoint("one"), "folder", SLOW)["dtype"] == "float32"
    assert args["kv_cache_memory_bytes"] > 0
    assert args["block_size"] == 32
    assert args["max_num_seqs"] == 7
    assert args["scheduling_policy"] == "priority"
    assert args["structured_outputs_config"]["backend"] == "xgrammar"


def test_a_gpu_engine_keeps_vllms_own_choices() -> None:
    assert not {"dtype", "kv_cache_memory_bytes", "block_size", "enforce_eager"} & set(
        engine_args(Endpoint("one"), "f", GPU)
    )


def test_the_endpoints_options_win() -> None:
    args = engine_args(Endpoint("one", options={"dtype": "float16", "max_model_len": 99}), "folder", FAST)
    assert (args["dtype"], args["max_model_len"]) == ("float16", 99)


def test_an_embedder_is_known_by_its_option_or_its_folder(tmp_path: Path) -> None:
    assert is_embedder(Endpoint("one", options={"runner": "pooling"}), "folder")
    assert not is_embedder(Endpoint("one"), str(tmp_path))
    (tmp_path / "modules.json").touch()
    assert engine_args(Endpoint("one"), str(tmp_path), FAST)["runner"] == "pooling"
    assert not is_embedder(Endpoint("one", options={"runner": "generate"}), str(tmp_path))


def test_settings_become_arguments_of_a_command_line() -> None:
    words = cli_args(
        {"model": "m", "served_model_name": ["a", "b"], "enforce_eager": True, "x_y": False, "c": {"d": 1}}
    )
    assert words == [
        "--model",
        "m",
        "--served-model-name",
        "a",
        "b",
        "--enforce-eager",
        "--no-x-y",
        "--c",
        '{"d": 1}',
    ]


def test_a_local_model_needs_no_network(tmp_path: Path) -> None:
    assert engine_environment(str(tmp_path), FAST)["HF_HUB_OFFLINE"] == "1"
    assert "HF_HUB_OFFLINE" not in engine_environment("owner/model", FAST)
    assert "VLLM_CPU_OMP_THREADS_BIND" not in engine_environment(str(tmp_path), GPU)


def test_no_module_outside_vllms_own_imports_it() -> None:
    program = "import sys, workers.engines.choose, workers.runner; print({'vllm', 'torch', 'transformers'} & set(sys.modules))"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True, timeout=200
    )
    assert done.stdout.strip() == "set()"

"""The whole file is checked, each finding has its place and, where there is one, the nearest right name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.lane import Lane
from stream.config.load import load_settings
from stream.config.settings import InputBinding, Settings
from stream.errors import ConfigError
from workers.endpoint import Endpoint, SimulatedTimes

Write = Callable[[str], Path]
SIM = '[endpoints.sim]\nengine = "simulated"\n'


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def file(content: str) -> Path:
        path = tmp_path / "headrace.toml"
        path.write_text(content)
        return path

    return file


def findings(path: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    return [line.replace(str(path), "F") for line in str(caught.value).splitlines()]


def test_without_a_file_the_built_in_endpoint_runs_on_the_embedded_broker() -> None:
    assert load_settings(None) == Settings(endpoints={"smollm2": Endpoint("smollm2")})


def test_every_key_of_the_example_reaches_the_settings(write: Write) -> None:
    settings = load_settings(
        write(
            """
[headrace]
prefix = "acme."
[kafka]
bootstrap_servers = "broker:9092"
client = { "security.protocol" = "SASL_SSL", "socket.keepalive.enable" = true, "retry.backoff.ms" = 7 }
[registry]
url = "https://registry:8081"
[inputs."reviews.*"]
format = "avro-registry"
tenant = "acme"
lane = "batch"
[outputs]
results = "answers"
dead_letters = "dead"
reply_topics = ["answers", "to.*"]
[endpoints.smollm2]
engine = "vllm"
model = "smollm2-135m-instruct"
workers = 2
partitions = 16
slots = 8
order = "none"
attempts_max = 4
poison_deaths_max = 5
options = { max_model_len = 2048 }
[endpoints.sim]
engine = "simulated"
simulated = { prefill_tokens_per_s = 10, decode_tokens_per_s = 2.5, start_s = 1 }
[commit]
interval_ms = 50
[metrics]
port = 9100
[limits]
txn_records_max = 100
"""
        )
    )
    assert settings.prefix == "acme."
    assert settings.kafka is not None
    assert settings.kafka.client == {
        "security.protocol": "SASL_SSL",
        "socket.keepalive.enable": "true",
        "retry.backoff.ms": "7",
    }
    assert settings.registry_url == "https://registry:8081"
    assert settings.inputs == (
        InputBinding("acme.requests"),
        InputBinding("reviews.*", "avro-registry", None, "acme", Lane.BATCH),
    )
    assert settings.outputs.reply_topics == ("answers", "to.*")
    assert settings.endpoints["smollm2"] == Endpoint(
        "smollm2", "vllm", "smollm2-135m-instruct", 2, 16, 8, "none", 4, 5, {"max_model_len": 2048}
    )
    assert settings.endpoints["sim"].simulated == SimulatedTimes(10, 2.5, 1)
    assert (settings.commit_interval_ms, settings.metrics_port) == (50, 9100)
    assert settings.limits.txn_records_max == 100


def test_an_input_may_refuse_fields_that_nobody_knows(write: Write) -> None:
    settings = load_settings(write('[inputs.a]\nunknown_fields = "refuse"\n' + SIM))
    assert [binding.unknown_fields for binding in settings.inputs] == ["name", "refuse"]


def test_own_topics_follow_the_prefix(write: Write) -> None:
    outputs = load_settings(write('[headrace]\nprefix = "b_"\n' + SIM)).outputs
    assert (outputs.results, outputs.dead_letters) == ("b_results", "b_dead-letters")
    assert outputs.reply_topics == ("b_results", "b_replies.*")


def test_an_avro_schema_is_looked_for_beside_the_file(write: Write, tmp_path: Path) -> None:
    (tmp_path / "review.avsc").write_text('"string"')
    settings = load_settings(write('[inputs.reviews]\nformat = "avro"\nschema = "review.avsc"\n' + SIM))
    assert settings.inputs[1].schema == str(tmp_path / "review.avsc")


@pytest.mark.parametrize(
    ("schema", "why"), [(b"{}", "not an Avro schema"), (b"\xff", "no text that can be read")]
)
def test_an_avro_schema_that_is_none_is_found_before_a_dispatcher_starts_with_it(
    write: Write, tmp_path: Path, schema: bytes, why: str
) -> None:
    (tmp_path / "x.avsc").write_bytes(schema)
    [finding] = findings(write('[inputs.x]\nformat = "avro"\nschema = "x.avsc"\n' + SIM))
    assert finding.startswith(f'F:3: "schema" in [inputs.x] names "x.avsc", which is {why}')


def test_all_findings_come_at_once_in_the_order_of_the_file(write: Write) -> None:
    found = findings(
        write(
            """[headrace]
prefx = "a."
[endpoints.sim]
engine = "simulatd"
workers = "two"
slots = 0
simulated = { start = 1 }
[commit]
interval_ms = true
"""
        )
    )
    assert found == [
        'F:2: unknown key "prefx" in [headrace], did you mean "prefix"?',
        'F:4: "engine" in [endpoints.sim] does not know "simulatd", did you mean "simulated"?',
        'F:5: "workers" in [endpoints.sim] must be a whole number, not text',
        'F:6: "slots" in [endpoints.sim] must be from 1 to 4096, not 0',
        'F:7: "simulated" in [endpoints.sim] is only for engine = "simulated", this one is "vllm"',
        'F:7: unknown key "start" in [endpoints.sim.simulated], did you mean "start_s"?',
        'F:9: "interval_ms" in [commit] must be a whole number, not true or false',
    ]


@pytest.mark.parametrize(
    ("content", "finding"),
    [
        ('[redis]\nurl = "redis://cache"\n' + SIM, 'F:1: "redis" is not in this version'),
        ("[tenants.acme]\nquotas = { sim = 5.0 }\n" + SIM, 'F:1: "tenants" is not in this version'),
        (
            SIM + "lanes = { batch = { minimum = 1 } }\n",
            'F:3: "lanes" in [endpoints.sim] is not in this version',
        ),
        (
            '[endpoints.x]\nengine = "openai"\n',
            'F:2: "engine" in [endpoints.x] "openai" is not in this version; there are: simulated, vllm',
        ),
    ],
)
def test_features_to_come_are_refused_as_such(write: Write, content: str, finding: str) -> None:
    assert findings(write(content)) == [finding]


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("[endpoints.sim]\nworkers = \n", "F:2: is not TOML"),
        ("[endpoints.sim\n", "F:1: is not TOML"),
        ('x = """\n', "is not TOML"),
        ("x = " + "[" * 5_000 + "]" * 5_000, "F:1: is not TOML that can be read"),
        ("x = " + "9" * 5_000, "F:1: is not TOML that can be read"),
        ("", "F:1: no endpoint: add [endpoints.NAME]"),
        (SIM + "[kafka]\n", 'F:3: "bootstrap_servers" in [kafka] is missing'),
        (SIM + '[kafka]\nbootstrap_servers = "a b"\n', "must be host:port"),
        (SIM + '[kafka]\nbootstrap_servers = "nohost"\n', "must be host:port"),
        (SIM + '[kafka]\nbootstrap_servers = "a:1,b"\n', 'not "b"'),
        (SIM + '[kafka]\nbootstrap_servers = "a:99999"\n', "from 1 to 65535"),
        (SIM + '[kafka]\nbootstrap_servers = "a:abc"\n', "must be host:port"),
        (SIM + '[kafka]\nbootstrap_servers = "http://a:80"\n', "must be host:port"),
        (SIM + '[kafka]\nbootstrap_servers = "a:1"\nclient = { "isolation.level" = "x" }\n', "F:5: "),
        (SIM + '[kafka]\nbootstrap_servers = "a:1"\nclient = { "group.id" = "x" }\n', "is set by Headrace"),
        (SIM + '[registry]\nurl = "registry:8081"\n', "must be an http:// or https:// address"),
        (SIM + '[inputs.a]\nformat = "avro-registry"\n', 'input "a" needs a schema registry'),
        (SIM + '[inputs.a]\nformat = "avro"\n', '"schema" in [inputs.a] is missing'),
        (SIM + '[inputs.a]\nformat = "avro"\nschema = "no.avsc"\n', "is no file beside the configuration"),
        (SIM + '[inputs.a]\nschema = "no.avsc"\n', 'is only for format = "avro"'),
        (SIM + '[inputs.a]\nlane = "gold"\n', "F:4: "),
        (SIM + '[inputs.a]\nunknown_fields = "drop"\n', "F:4: "),
        (SIM + f'[inputs.a]\ntenant = "{"x" * 257}"\n', "must be at most 256 bytes long"),
        (SIM + '[inputs.a]\ntenant = ""\n', "must not be empty"),
        (SIM + '[inputs."a b"]\n', "cannot name a topic"),
        (SIM + "[inputs.'^a(']\n", "is not a regular expression"),
        (SIM + "[inputs.'^a\\d+']\n", "in another way: write plain POSIX"),
        (SIM + "[inputs]\na = 1\n", '"a" in [inputs] must be a table'),
        ('[headrace]\nprefix = ".x"\n' + SIM, "F:2: "),
        ("[endpoints.'a b']\nengine = \"simulated\"\n", "cannot be part of a topic name"),
        ('[endpoints."a.b"]\n[endpoints.a_b]\n', 'differ only in "." and "_"'),
        (SIM + "workers = 4\npartitions = 2\n", "must be at least the 4 workers"),
        (SIM + 'options = { max_model_len = "x" }\n', '"max_model_len" in [endpoints.sim.options] must be'),
        (SIM + "options = { max_modl_len = 9 }\n", 'did you mean "max_model_len"?'),
        (SIM + "simulated = { start_s = nan }\n", "must be from 0 to 3600, not nan"),
        (SIM + '[outputs]\nresults = "x"\ndead_letters = "x"\n', "are the same topic"),
        (SIM + "[outputs]\nreply_topics = []\n", "must name at least one"),
        (SIM + "[outputs]\nreply_topics = [1]\n", "must be text, not a whole number"),
        (SIM + "[limits]\nopen_records_max = 1632\n", "must be from 1 to 1631, not 1632"),
        (SIM + "[limits]\nspan_offsets_max = 1000000\n", "must be from 1 to 1070, not 1600"),
        ('endpoints = "sim"\n', "must be a table"),
        (SIM + f"simulated = {{ start_s = 1{'0' * 400} }}\n", "must be from 0 to 3600, not a number of very"),
        (
            SIM + f"simulated = {{ decode_tokens_per_s = -1{'0' * 400} }}\n",
            "not a number of very many digits",
        ),
        (SIM + f"slots = 0x{'f' * 9_000}\n", "must be from 1 to 4096, not a number of very many digits"),
        (SIM + "simulated = { start_s = 4000 }\n", "must be from 0 to 3600, not 4000"),
        (SIM + "[inputs.'^a{99999999999}']\n", "is not a regular expression"),
        (SIM + f"[inputs.'^{'(' * 9_000}{')' * 9_000}']\n", "is not a regular expression"),
        (SIM + f'[inputs."{"a*" * 900}"]\n', "cannot name a topic"),
        (SIM + '[outputs]\nresults = "."\n', 'F:4: "results" in [outputs] must be the name of a topic'),
        (SIM + '[outputs]\ndead_letters = ".."\n', 'but neither "." nor ".."'),
        (SIM + '[inputs.".."]\n', "cannot name a topic"),
        (SIM + '[registry]\nurl = "http://[::1"\n', '"http://[::1" is none'),
        (SIM + '[registry]\nurl = "http://host:99999/"\n', "a port from 1 to 65535 if any"),
        (SIM + '[registry]\nurl = "http://:80"\n', "must name a host"),
        (SIM + "[limits]\nvalue_bytes_max = 20971520\n", "must be at most 20840448, not 20971520"),
        (SIM + "[limits]\ndead_letter_bytes_max = 20840449\n", "must be at most 20840448, not 20840449"),
        (
            SIM + "[limits]\nheaders_bytes_max = 1048576\nvalue_bytes_max = 20840448\n",
            "at most 19857408, not",
        ),
        (SIM + "[limits]\nvalue_bytes_max = 268435456\n", "must be from 1024 to 20971520"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(write: Write, content: str, part: str) -> None:
    assert any(part in finding for finding in findings(write(content)))


@pytest.mark.parametrize(
    ("inputs", "topic"),
    [
        ('[inputs."headrace.results"]', "headrace.results"),
        ('[inputs."*"]', "a loop"),
        ('[inputs."headrace.*"]', "a loop"),
        ('[inputs."headrace.replies.mine"]', "headrace.replies.mine"),
        ("[inputs.'^.*']", "a loop"),
        ("[inputs.'^headrace\\.dead.*']", "headrace.dead-letters"),
        ('[inputs."headrace.work.sim.batch"]', "headrace.work.sim.batch"),
        ('[inputs."x.*"]\n[outputs]\nreply_topics = ["*.y"]', '"x.y"'),
        ('[outputs]\nreply_topics = ["headrace.*"]', "an internal topic"),
    ],
)
def test_an_input_that_is_also_an_output_is_a_loop(write: Write, inputs: str, topic: str) -> None:
    assert any(topic in finding for finding in findings(write(SIM + inputs + "\n")))


def test_two_patterns_on_one_topic_are_an_error(write: Write) -> None:
    assert findings(write(SIM + '[inputs."eu.*"]\n[inputs."eu*.reviews"]\n')) == [
        'F:4: inputs "eu.*" and "eu*.reviews" would both read "eu.reviews"'
    ]


def test_an_exact_name_beside_a_pattern_that_covers_it_is_allowed(write: Write) -> None:
    settings = load_settings(write(SIM + '[inputs."eu.*"]\n[inputs."eu.reviews"]\nlane = "interactive"\n'))
    assert len(settings.inputs) == 3


@pytest.mark.parametrize("content", [b"\xff", None])
def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "headrace.toml"
    if content is not None:
        path.write_bytes(content)
    assert findings(path)[0].startswith("F: cannot be read: " if content is None else "F:1: ")


@pytest.mark.parametrize(("key", "line"), [("results", 2), ("dead_letters", 2), ("reply_topics", 2)])
def test_an_output_that_is_the_standard_input_is_told_where_it_stands(
    write: Write, key: str, line: int
) -> None:
    value = '["headrace.requests"]' if key == "reply_topics" else '"headrace.requests"'
    [finding] = findings(write(f"[outputs]\n{key} = {value}\n" + SIM))
    assert finding.startswith(f"F:{line}: ")
    assert "a loop" in finding


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "headrace.toml"
    path.write_text('[endpoints.sim]\nengine = "simulated"\n', encoding="utf-8-sig")
    assert list(load_settings(path).endpoints) == ["sim"]

"""The deployment of docker-compose.yml fits itself, its configuration and this command line."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client import CollectorRegistry

from stream.cli.parser import parse
from stream.config.load import load_settings
from stream.errors import ConfigError, LogFenced
from stream.metrics.pages import Pages
from workers.models import CACHE_VARIABLE

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
ROLES = {name: service for name, service in SERVICES.items() if name.startswith(("dispatcher-", "worker-"))}
#: Those that start without a profile.
USUAL = {name: service for name, service in ROLES.items() if "profiles" not in service}
README = DEPLOY / "README.md"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
SETTINGS = load_settings(DEPLOY / "headrace.toml")


def has_compose() -> bool:
    docker = shutil.which("docker")
    return (
        docker is not None
        and subprocess.run([docker, "compose", "version"], check=False, capture_output=True).returncode == 0
    )


@pytest.mark.skipif(not has_compose(), reason="the docker client has no compose here")
def test_docker_compose_accepts_the_file() -> None:
    command = ["docker", "compose", "-f", str(ROOT / "docker-compose.yml"), "config", "--quiet"]
    checked = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stderr


def test_the_parts_of_a_real_deployment_are_there() -> None:
    assert {"kafka", "redis", "prometheus", "grafana"} <= set(SERVICES)
    assert any(name.startswith("dispatcher") for name in ROLES)
    assert any(name.startswith("worker") for name in ROLES)


def test_the_broker_never_creates_topics_by_itself() -> None:
    assert SERVICES["kafka"]["environment"]["KAFKA_AUTO_CREATE_TOPICS_ENABLE"] == "false"


@pytest.mark.parametrize("name", ROLES)
def test_a_role_is_started_by_a_command_line_of_ours_under_the_name_of_its_slot(name: str) -> None:
    _, arguments = parse(ROLES[name]["command"])
    endpoint = [arguments.endpoint] if arguments.command == "worker" else []
    assert name == "-".join([arguments.command, *endpoint, f"{arguments.slot:02d}"])
    assert set(endpoint) <= set(SETTINGS.endpoints)


def test_each_endpoint_has_as_many_workers_as_its_configuration_says() -> None:
    for endpoint in SETTINGS.endpoints.values():
        assert (
            len([name for name in USUAL if name.startswith(f"worker-{endpoint.name}-")]) == endpoint.workers
        )


def test_the_roles_find_the_broker_by_a_listener_that_is_advertised() -> None:
    assert SETTINGS.kafka is not None
    advertised = SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    assert f"://{SETTINGS.kafka.bootstrap_servers}" in advertised


def test_prometheus_scrapes_every_role_on_its_port() -> None:
    [job] = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"]
    targets = {target for group in job["static_configs"] for target in group["targets"]}
    assert targets == {f"{name}:{SETTINGS.metrics_port}" for name in USUAL}
    found = {(name, group["port"]) for group in job["dns_sd_configs"] for name in group["names"]}
    assert found == {(name, SETTINGS.metrics_port) for name in ROLES if name not in USUAL}


@pytest.mark.parametrize("name", SERVICES)
def test_each_part_that_stays_is_looked_at_and_started_again(name: str) -> None:
    service = SERVICES[name]
    if service.get("profiles") == ["cli"]:
        assert "restart" not in service
        return
    assert service["healthcheck"]["test"][0] == "CMD"
    assert service["restart"] == ("on-failure" if name in ROLES else "unless-stopped")


@pytest.mark.parametrize("name", ROLES)
def test_a_role_is_healthy_when_it_says_that_it_is_ready(name: str) -> None:
    *_, words = ROLES[name]["healthcheck"]["test"]
    compile(words, name, "exec")
    assert f"http://localhost:{SETTINGS.metrics_port}/readyz" in words
    assert Pages(CollectorRegistry())._page("/readyz").status.startswith("503")


@pytest.mark.parametrize("name", ROLES)
def test_a_role_that_was_fenced_or_is_configured_wrongly_stays_down(name: str) -> None:
    """tini gives 0 in the place of these codes, and `on-failure` starts nothing again that ended with 0."""
    init, *options, end, program = ROLES[name]["entrypoint"]
    assert (init, end, program) == ("tini", "--", "headrace")
    codes = {int(code) for flag, code in pairwise(options) if flag == "-e"}
    assert codes == {LogFenced.exit_code, ConfigError.exit_code}


def test_workers_keep_their_models_in_a_volume_of_their_own() -> None:
    for name, service in ROLES.items():
        if not name.startswith("worker-"):
            continue
        assert f"models:{service['environment'][CACHE_VARIABLE]}" in service["volumes"]
        assert service["environment"]["HF_HOME"].startswith(service["environment"][CACHE_VARIABLE])
    assert SERVICES["worker-smollm2-00"]["environment"][CACHE_VARIABLE] in DOCKERFILE


def test_the_worker_on_a_gpu_asks_for_one_and_is_built_for_it() -> None:
    worker = SERVICES["worker-smollm2-02"]
    assert (worker["profiles"], worker["build"]["args"]) == (["gpu"], {"SET": "gpu"})
    [device] = worker["deploy"]["resources"]["reservations"]["devices"]
    assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])
    assert '"${SET}" = gpu' in DOCKERFILE
    assert "gpu" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize("line", re.findall(r"run --rm -T headrace (.*)", README.read_text(encoding="utf-8")))
def test_the_command_lines_of_the_page_are_taken(line: str) -> None:
    command = SERVICES["headrace"]
    before = command["entrypoint"][command["entrypoint"].index("headrace") + 1 :]
    words = shlex.split(re.split(r" [<>|] |  +#", line)[0])
    _, arguments = parse([*before, *words])
    mounts = [volume.split(":")[1] for volume in command["volumes"]]
    assert str(arguments.config) in mounts


def test_volumes_are_declared_and_mounted_files_exist() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            host = volume.split(":")[0]
            assert (ROOT / host).exists() if host.startswith("./") else host in COMPOSE["volumes"]


def test_grafana_asks_the_datasource_that_is_provisioned() -> None:
    provisioned = yaml.safe_load((DEPLOY / "grafana/provisioning/datasources/prometheus.yml").read_text())
    uids = {source["uid"] for source in provisioned["datasources"]}
    board = (DEPLOY / "grafana/dashboards/headrace.json").read_text(encoding="utf-8")
    assert set(re.findall(r'"type": "prometheus", "uid": "(\w+)"', board)) == uids


def test_what_the_dockerfile_copies_is_in_the_build_context() -> None:
    allowed = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    copied = [
        part for line in re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.MULTILINE) for part in line.split()
    ]
    assert copied
    for part in copied:
        assert (ROOT / part).exists()
        assert f"!{part.rstrip('/')}" in allowed

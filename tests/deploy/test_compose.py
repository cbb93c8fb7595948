"""The deployment of docker-compose.yml fits itself, its configuration and this command line."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from stream.cli.parser import parse
from stream.config.load import load_settings

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
ROLES = {name: service for name, service in SERVICES.items() if service["image"] == "headrace"}
SETTINGS = load_settings(DEPLOY / "headrace.toml")


def has_compose() -> bool:
    docker = shutil.which("docker")
    return (
        docker is not None
        and subprocess.run([docker, "compose", "version"], check=False, capture_output=True).returncode == 0
    )


@pytest.mark.skipif(not has_compose(), reason="the docker client has no compose here")
def test_docker_compose_accepts_the_file() -> None:
    command = ["docker", "compose", "-f", str(DEPLOY / "docker-compose.yml"), "config", "--quiet"]
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
            len([name for name in ROLES if name.startswith(f"worker-{endpoint.name}-")]) == endpoint.workers
        )


def test_the_roles_find_the_broker_by_a_listener_that_is_advertised() -> None:
    assert SETTINGS.kafka is not None
    advertised = SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    assert f"://{SETTINGS.kafka.bootstrap_servers}" in advertised


def test_prometheus_scrapes_every_role_on_its_port() -> None:
    jobs = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"]
    targets = {target for job in jobs for group in job["static_configs"] for target in group["targets"]}
    assert targets == {f"{name}:{SETTINGS.metrics_port}" for name in ROLES}


def test_volumes_are_declared_and_mounted_files_exist() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            host = volume.split(":")[0]
            assert (DEPLOY / host).exists() if host.startswith("./") else host in COMPOSE["volumes"]


def test_grafana_asks_the_datasource_that_is_provisioned() -> None:
    provisioned = yaml.safe_load((DEPLOY / "grafana/provisioning/datasources/prometheus.yml").read_text())
    uids = {source["uid"] for source in provisioned["datasources"]}
    board = (DEPLOY / "grafana/dashboards/headrace.json").read_text(encoding="utf-8")
    assert set(re.findall(r'"type": "prometheus", "uid": "(\w+)"', board)) == uids


def test_what_the_dockerfile_copies_is_in_the_build_context() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    allowed = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    copied = [
        part for line in re.findall(r"^COPY (.*) \S+$", dockerfile, re.MULTILINE) for part in line.split()
    ]
    assert copied
    for part in copied:
        assert (DEPLOY.parent / part).exists()
        assert f"!{part.rstrip('/')}" in allowed

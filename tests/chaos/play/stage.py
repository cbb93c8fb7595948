"""A scenario's stage: its installation, its roles, its senders, and those who watch."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final

from confluent_kafka import KafkaException

from tests.chaos.inputs.mix import Mix, batches, generate
from tests.chaos.inputs.plan import Planned
from tests.chaos.inputs.send import Sender
from tests.chaos.play import ends
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.installation import Installation
from tests.chaos.play.positions import Positions
from tests.chaos.play.reading import ConcurrentReader
from tests.chaos.play.role import POLL_S, Role
from tests.chaos.play.sampler import Sampler

SIGKILL: Final = -9
TOPICS_TIMEOUT_S: Final = 120.0


class Stage:
    """Everything of one run. Scenarios send records, hurt roles, and call `revive` now and then."""

    def __init__(self, cluster: Cluster, installation: Installation, rng: Random, mix: Mix) -> None:
        self.cluster = cluster
        self.installation = installation
        self.rng = rng
        self.mix = mix
        self.plans: dict[int, Planned] = {}
        self.positions = Positions(cluster.direct)
        self.sampler = Sampler(self.positions, cluster.proxy, installation.groups)
        self.sender = Sender(cluster.direct, installation.requests, f"{installation.prefix}sender")
        self.roles: dict[str, Role] = {}
        self.skipping_restarts = 0
        #: What was done to the roles, by name; those of the proxy are counted by its plan.
        self.bitten: Counter[str] = Counter()
        #: Ends of roles that nobody asked for: "worker-sim-00 ended with 1".
        self.surprises: list[str] = []
        self.reader: ConcurrentReader | None = None
        #: Partitions that hung before this run: the run that left them so has told, this one must not.
        self.hung_before = {
            place
            for place, found in self.positions.ends(self.positions.partitions()).items()
            if found.stable != found.high
        }
        self._away: set[str] = set()
        self._gone: list[Role] = []

    # The cast

    def dispatcher(self, slot: int = 0, module: Sequence[str] = ("stream", "dispatcher")) -> Role:
        group = self.installation.dispatcher_group
        return self._cast(f"dispatcher-{slot:02d}", f"{group}.{slot:02d}", [*module, "--slot", str(slot)])

    def worker(self, slot: int = 0, module: Sequence[str] = ("stream", "worker")) -> Role:
        endpoint, group = self.installation.endpoint, self.installation.worker_group
        arguments = [*module, "--endpoint", endpoint, "--slot", str(slot)]
        return self._cast(f"worker-{endpoint}-{slot:02d}", f"{group}.{slot:02d}", arguments)

    def start(self, *roles: Role) -> None:
        for role in roles:
            role.start()

    def open(self) -> None:
        """Once the roles have made their topics: begin to watch."""
        deadline = time.monotonic() + TOPICS_TIMEOUT_S
        wanted = {*self.installation.outputs, *self.installation.work}
        while wanted - {topic for topic, _ in self.positions.partitions(wanted)}:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the roles did not create {sorted(wanted)} in {TOPICS_TIMEOUT_S} s")
            time.sleep(POLL_S)
        self.reader = ConcurrentReader(
            self.cluster.direct, self.positions.partitions(self.installation.outputs)
        )
        self.reader.start()
        self.sampler.start()

    # The play

    def send(self, count: int, mix: Mix | None = None, batch: int = 20) -> None:
        """`count` records now (of the stage's mix), some batches in transactions, some of those aborted."""
        records = generate(self.rng, mix or self.mix, count, first_number=len(self.plans))
        self.plans.update((record.number, record) for record in records)
        for part in batches(records, batch):
            self.bitten["aborted_input"] += self.sender.send_mixed(self.rng, part)

    def send_markers(self) -> None:
        """Aborted records on every input partition as its last thing."""
        partitions = self.mix.partitions
        ghosts = [
            Planned(number, number % partitions, None, b"never seen", [])
            for number in range(len(self.plans), len(self.plans) + 3 * partitions)
        ]
        self.plans.update((ghost.number, ghost) for ghost in ghosts)
        self.sender.end_with_markers(ghosts)
        self.bitten["aborted_input"] += 1

    def kill(self, role: Role) -> None:
        """SIGKILL now; it bites if the process lived."""
        if role.alive:
            role.kill()
            role.wait(60)
            self.bite("kill", role)

    def bite(self, name: str, role: Role) -> None:
        """Counted for all, and for its kind of role."""
        self.bitten[name] += 1
        self.bitten[f"{role.kind}_{name}"] += 1

    def revive(self) -> None:
        """Start again whoever has died. What a dead worker had done above its offsets is on its heir's skip list."""
        for role in self.roles.values():
            if role.alive or not role.endings or role.name in self._away:
                continue
            if role.endings[-1] != SIGKILL:
                self.surprises.append(f"{role.name} ended with {role.endings[-1]}")
            self.note_heir(role)
            role.start()

    def idle(self, role: Role, seconds: float) -> None:
        """A role that has stopped stays away for so long; the others are revived meanwhile."""
        self._away.add(role.name)
        self.play_for(seconds)
        self._away.discard(role.name)
        role.start()

    def dismiss(self, role: Role) -> None:
        """It plays no more part."""
        role.end()
        self._gone.append(self.roles.pop(role.name))

    def play_for(self, seconds: float) -> None:
        """Let it run, and revive the dead at once."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.revive()
            time.sleep(POLL_S)

    def wait_for(self, what: str, count: int, timeout_s: float) -> bool:
        """Until a fault of this name has bitten `count` times, reviving meanwhile."""
        deadline = time.monotonic() + timeout_s
        while self.bites[what] < count and time.monotonic() < deadline:
            self.revive()
            time.sleep(POLL_S)
        return self.bites[what] >= count

    @property
    def outputs_seen(self) -> int:
        """Results and dead letters that the concurrent reader has."""
        return 0 if self.reader is None else self.reader.count

    @property
    def bites(self) -> Counter[str]:
        """Every fault that bit in this run, by name."""
        points = Counter(
            f"{role.kind}_at_{fault.partition(':')[0]}"
            for role in (*self.roles.values(), *self._gone)
            for fault in role.ended_at
        )
        return self.bitten + points + self._bites_of_the_proxy()

    def _bites_of_the_proxy(self) -> Counter[str]:
        proxy, found = self.cluster.proxy, Counter[str]()
        for kind, group in self._groups.items():
            found[f"{kind}_rebalance_in_transaction"] = proxy.moved_in_transaction[group]
            for action, count in proxy.plan.bitten_in(f"{group}.").items():
                found[action] += count
                found[f"{kind}_{action}"] += count
        return found

    def busy_moves(self, kind: str) -> int:
        """Rebalances of a kind's group with work in flight, seen from outside."""
        group = self._groups[kind]
        return self.sampler.busy[group] + self.cluster.proxy.moved_in_transaction[group]

    def generation(self, kind: str) -> int:
        """Of a kind's group, as its members were last told."""
        return self.cluster.proxy.generations.get(self._groups[kind], 0)

    @property
    def _groups(self) -> dict[str, str]:
        return {"dispatcher": self.installation.dispatcher_group, "worker": self.installation.worker_group}

    # The end

    def drain(self, timeout_s: float) -> bool:
        """Until every group has committed to every end, or `timeout_s` has passed."""
        deadline = time.monotonic() + timeout_s
        while not self._is_drained():
            if time.monotonic() > deadline:
                return False
            self.revive()
            time.sleep(0.5)
        return True

    def stop_roles(self) -> None:
        self.stop(list(self.roles.values()))

    def stop(self, roles: Sequence[Role]) -> None:
        """A clean stop of those that run; whoever does not manage is a surprise."""
        self.surprises += ends.stop(roles)

    def close(self) -> None:
        for role in self.roles.values():
            role.end()
        self.sampler.stop()
        if self.reader is not None:
            self.reader.stop()
        # Whatever a scenario that failed has left of its faults: the next one has the same proxy.
        self.cluster.proxy.plan.forget()
        self.cluster.proxy.latency_s = 0.0
        self.cluster.proxy.reopen()

    def _is_drained(self) -> bool:
        self.sampler.sample()
        try:
            for group, topics in self.installation.groups.items():
                for place in self.positions.partitions(topics):
                    samples = self.sampler.samples.get((group, *place), [])
                    end = self.positions.high(place)
                    if end and (not samples or samples[-1] != (end, frozenset())):
                        return False
        except (KafkaException, TimeoutError):
            return False
        return True

    def note_heir(self, role: Role) -> None:
        """Whether the next owner of what `role` has left finds a skip list."""
        self.sampler.sample()
        group = role.transactional_id.rpartition(".")[0]
        self.skipping_restarts += bool(self.sampler.skip_lists(group))

    def _cast(self, name: str, transactional_id: str, arguments: list[str]) -> Role:
        place = ["-c", str(self.installation.config_file), "--state-dir", str(self.installation.folder)]
        role = Role(name, transactional_id, [*arguments, *place], self._log(name))
        self.roles[name] = role
        return role

    def _log(self, name: str) -> Path:
        return self.installation.logs / f"{name}.log"

    def kill_owner(self, transactional_id: str) -> None:
        """For the proxy: SIGKILL whoever runs under this id."""
        for role in list(self.roles.values()):
            if role.transactional_id == transactional_id:
                role.kill()


@contextmanager
def staged(cluster: Cluster, installation: Installation, rng: Random, mix: Mix) -> Iterator[Stage]:
    """A stage whose processes and threads end with the block."""
    installation.write_config()
    installation.create_own_topics(cluster.direct)
    stage = Stage(cluster, installation, rng, mix)
    cluster.owned_by(stage.kill_owner)
    try:
        yield stage
    finally:
        stage.close()

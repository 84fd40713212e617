"""coordinators.yaml: what is refused, in which words; and that the schema knows what the daemon knows."""

import json
import subprocess
from pathlib import Path

import pytest

from halcyon.cli import main
from halcyon.coordinate.address import Address
from halcyon.coordinate.configuration import choose, find_program, read_coordinators
from halcyon.errors import ConfigError, UnavailableError, UsageError
from halcyon.policy.functions import metric_names, rule_names

ROOT = Path(__file__).resolve().parents[3]
try:
    find_program()
except UnavailableError as why:
    pytest.skip(str(why), allow_module_level=True)

GOOD = """halcyon: 1
coordinators:
  scratch:
    paths: [/scratch, /lustre/../gpfs/]
    address: tcp:login1:7410
    listen: ["tcp:0.0.0.0:7410", "unix:/run/halcyon/scratch.socket"]
    policy: set-10
    bounds: {starvation: 1 min, slice: 250 ms}
    accounts: {physics: 2, weather: 0.5}
    limits: {connections: 100, buffer: 8 MiB}
    administrators: [root, 1000]
    epoch-file: /var/lib/halcyon/scratch.epoch
  home:
    paths: [/home]
    address: unix:@home
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "coordinators.yaml"
    file.write_text(text)
    return file


def test_a_configuration_is_checked_and_its_coordinators_are_said(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, GOOD)
    assert main(["coordinator", "check", str(file)]) == 0
    assert capfd.readouterr().out == (
        "scratch: /scratch, /gpfs at tcp:login1:7410, policy set-10\n"
        "home: /home at unix:@home, policy dynamic, metric sum-of-interference-factors\n"
        f"{file}: OK\n"
    )


@pytest.mark.parametrize(
    ("times", "warned_of"),
    [
        ("{}", []),
        ("{dead: 500 ms, relearn: 500 ms}", []),
        ("{dead: 300 ms}", ["times.dead is 0.3 s: an application that was cut off uses its lease for up to 0.5 s, "]),
        ("{relearn: 499 ms, dead: 10 ms}", ["times.dead is 0.01 s: ", "times.relearn is 0.499 s: "]),
        ("{relearn: 0 s}", []),
    ],
)
def test_times_that_let_two_move_at_once_are_warned_of(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], times: str, warned_of: list[str]
) -> None:
    file = written(tmp_path, GOOD.replace("policy: set-10", f"policy: set-10\n    times: {times}"))
    assert main(["coordinator", "check", str(file)]) == 0
    warnings = [line for line in capfd.readouterr().out.splitlines() if "warning" in line]
    assert len(warnings) == len(warned_of)
    for line, start in zip(warnings, warned_of, strict=True):
        assert line.startswith(f"scratch: warning: {start}")


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ("policy: set-10", "policy: set10", ":7: coordinators.scratch.policy: 'set10' is not known; did you mean"),
        ("limits:", "limit:", ":10: coordinators.scratch.limit: unknown key; did you mean 'limits'?"),
        ("slice: 250 ms", "slice: 250", ":8: coordinators.scratch.bounds.slice: "),
        ("slice: 250 ms", "slice: 1 ms", "'1 ms'; expected a duration from 10 ms to 60 min"),
        ("slice: 250 ms", "interruption: 2 min", "'2 min'; expected a duration from 0 to 60 s"),
        ("policy: set-10", "times: {heartbeat: 300 ms}", "'300 ms'; expected a duration from 10 ms to 250 ms"),
        ("buffer: 8 MiB", "buffer: 8 kB", ":10: coordinators.scratch.limits.buffer: '8 kB'; expected at least 1048576"),
        ("physics: 2", "physics: 0", ":9: coordinators.scratch.accounts.physics: "),
        ("paths: [/home]", "paths: [home]", ":14: coordinators.home.paths[0]: 'home'; expected an absolute path"),
        ("paths: [/home]", "paths: [/gpfs]", "'/gpfs' is coordinated by 'scratch' already"),
        ("paths: [/home]", 'paths: ["/home\\nb"]', ":14: coordinators.home.paths[0]: '/home\\nb'; expected no control"),
        ("paths: [/home]", f"paths: [/{'h' * 511}]", ":14: coordinators.home.paths[0]: a path of 512 bytes; expected"),
        (
            "paths: [/home]",
            f"paths: [{', '.join(f'/{i}' for i in range(9))}]",
            ":14: coordinators.home.paths: 11 paths with those of the coordinators before; expected 8 at most",
        ),
        (
            "unix:@home",
            "unix:@home\n    metrics: unix:@home",
            ":16: coordinators.home.metrics: 'unix:@home' is an address of this coordinator's clients ('address'); ",
        ),
        (
            "unix:@home",
            "unix:@home\n    listen: [unix:@other]\n    metrics: unix:@other",
            ":17: coordinators.home.metrics: 'unix:@other' is an address of this coordinator's clients ('listen'); ",
        ),
        (
            "unix:@home",
            "unix:@home\n    listen: [unix:@other, 'tcp:[::1]:0', 'tcp:[::1]:0', unix:@other]",
            ":16: coordinators.home.listen[3]: 'unix:@other' is there twice",
        ),
        ("unix:@home", "unix:/home=b", ":15: coordinators.home.address: 'unix:/home=b'; expected no control "),
        ("paths: [/home]", "paths: [/x=unix:b]", ":14: coordinators.home.paths[0]: '/x=unix:b'; expected no '=unix:'"),
        ("unix:@home", "tcp:login1:0", ":15: coordinators.home.address: 'tcp:login1:0'; expected a port, since"),
        ("unix:@home", "tcp:login1:7410", ":15: coordinators.home.address: 'tcp:login1:7410' is the address of "),
        ("unix:@home", "home", ":15: coordinators.home.address: "),
        ("root, 1000", "nobody-of-that-name", "no user 'nobody-of-that-name' on this machine"),
        ("    address: unix:@home\n", "", ":13: coordinators.home: 'address' is missing"),
        ("halcyon: 1", "halcyon: 2", ":1: halcyon: "),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], was: str, becomes: str, said: str
) -> None:
    assert GOOD.count(was) == 1
    file = written(tmp_path, GOOD.replace(was, becomes))
    assert main(["coordinator", "check", str(file)]) == 1
    told = capfd.readouterr().err
    assert told.startswith(f"halcyon-coordinator: {file}:")
    assert said in told


def test_metrics_may_have_any_free_port_of_the_clients_host(tmp_path: Path) -> None:
    free = "listen: ['tcp:127.0.0.1:0']\n    metrics: tcp:127.0.0.1:0"
    file = written(tmp_path, GOOD.replace("address: unix:@home", f"address: unix:@home\n    {free}"))
    assert main(["coordinator", "check", str(file)]) == 0


def test_heartbeats_must_fit_into_the_time_that_is_silence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    times = "    times: {heartbeat: 250 ms, stalled: 500 ms}\n"
    file = written(tmp_path, GOOD.replace("    policy: set-10\n", times))
    assert main(["coordinator", "check", str(file)]) == 1
    assert "'500 ms' is less than three heartbeats" in capfd.readouterr().err


def test_commands_find_a_coordinator_by_name(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD)
    assert [one.name for one in read_coordinators(file)] == ["scratch", "home"]
    assert choose(file, "home").addresses == [Address("@home")]
    assert choose(file, "scratch").addresses == [Address("login1", 7410)]
    with pytest.raises(UsageError, match="has 2 coordinators: home, scratch; name one of them with --name"):
        choose(file, None)
    with pytest.raises(UsageError, match="no coordinator 'work'; known coordinators: home, scratch"):
        choose(file, "work")
    with pytest.raises(ConfigError, match="No such file"):
        read_coordinators(tmp_path / "none")


def test_daemons_that_are_elected_have_an_address_each(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    two = "address: [unix:@a, 'tcp:login2:7410']\n    elect: {etcd: ['https://login1:2379/'], prefix: /site/x}"
    file = written(tmp_path, GOOD.replace("address: unix:@home", two))
    assert main(["coordinator", "check", str(file)]) == 0
    assert "home: /home at unix:@a or tcp:login2:7410, policy dynamic" in capfd.readouterr().out
    assert choose(file, "home").addresses == [Address("@a"), Address("login2", 7410)]


def test_an_elected_daemon_leads_only_where_its_clients_look(tmp_path: Path) -> None:
    two = "address: [unix:@a, unix:@b]\n    elect: {etcd: ['http://127.0.0.1:1']}"
    file = written(tmp_path, GOOD.replace("address: unix:@home", two))

    def said(*options: str) -> str:
        command = [find_program(), "--config", file, "--name", "home", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 2
        return done.stderr

    assert "home' has 2 addresses, each of another daemon; --address says which one is this daemon's: " in said()
    refused = said("--address", "unix:@c")
    assert "--address unix:@c: clients of coordinator 'home', whose daemons are elected, do not look there" in refused
    assert "expected one of unix:@a, unix:@b\n" in refused
    file = written(tmp_path, GOOD.replace("address: unix:@home", f"{two}\n    listen: [unix:@c]"))
    assert f"'listen' of {file}: unix:@c: clients of coordinator 'home'" in said()


def test_the_schema_and_the_daemon_know_the_same_words(tmp_path: Path) -> None:
    schema = json.loads((ROOT / "schema/coordinators.schema.json").read_text())
    known = schema["definitions"]["coordinator"]["properties"]
    assert set(rule_names()) == set(known["policy"]["enum"])
    assert set(metric_names()) == set(known["metric"]["enum"])
    for key in ("policy", "metric"):
        for word in known[key]["enum"]:
            file = written(tmp_path, GOOD.replace("policy: set-10", f"{key}: {word}"))
            checked = subprocess.run([find_program(), "--check", file], capture_output=True, text=True, check=False)
            assert checked.returncode == 0, checked.stderr
            assert key == "metric" or f"policy {word}" in checked.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--adress", "unix:@x"], "unknown option --adress; did you mean --address?"),
        ([], "neither --config nor --address is given"),
        (["--address"], "--address needs a value"),
        (
            ["--address=unix:@x", "--policy=fcsf"],
            "--policy fcsf: no such policy; did you mean 'fcfs'?; expected delay,",
        ),
        (["--address=unix:@x", "--metric=best"], "--metric best: no such metric; expected cpu-hours, energy, sum-of-"),
        (["--address=nowhere"], "--address: socket address 'nowhere': "),
        (["--address=unix:@x", "--metrics=nowhere"], "--metrics: socket address 'nowhere': "),
        (["--address=unix:@x", "--address=unix:@x"], "--address unix:@x is given twice"),
        (["--address=unix:@x", "--metrics=unix:@x"], "--metrics unix:@x: clients connect there; expected another"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(arguments: list[str], said: str) -> None:
    done = subprocess.run([find_program(), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr

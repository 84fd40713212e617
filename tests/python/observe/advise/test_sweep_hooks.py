"""A sweep's own ways to set striping and the file's size, for what no hint reaches."""

from pathlib import Path

import pytest
from observe.advise.test_sweep_of_commands import facts

from halcyon.cli import main
from halcyon.errors import UsageError
from halcyon.observe.advise.sweep.command import reach
from halcyon.observe.advise.sweep.file_size import FileSize, with_size
from halcyon.observe.advise.sweep.space import Parameter
from halcyon.observe.advise.sweep.striping import StripeCommand, StripingError, striping_of

MIB = 1 << 20
POINT = (("striping_factor", 4), ("striping_unit", MIB), ("cb_nodes", 2))
COUNTS = Parameter.parse("striping_factor=1,2,4")


def test_a_stripe_command_is_filled_in_for_the_shell(tmp_path: Path) -> None:
    place = tmp_path / "with space"
    place.mkdir()
    striping = striping_of(facts(place / "out", "fuse"), StripeCommand.parse("echo {count} {size} > {dir}/set"))
    assert striping is not None
    striping.prepare(POINT)
    assert (place / "set").read_text() == f"4 {MIB}\n"


@pytest.mark.parametrize("text", ["lfs setstripe {dir}", "set {count} {stripes}"])
def test_a_stripe_command_has_to_set_something_that_is_known(text: str) -> None:
    with pytest.raises(UsageError, match=r"\{count\} or \{size\}"):
        StripeCommand.parse(text)


def test_a_stripe_command_that_fails_is_named(tmp_path: Path) -> None:
    striping = striping_of(facts(tmp_path / "out", "fuse"), StripeCommand.parse("echo no brick {count} >&2; exit 3"))
    assert striping is not None
    with pytest.raises(StripingError, match="ended with 3: no brick 4"):
        striping.prepare(POINT)


def test_only_what_a_stripe_command_sets_is_varied() -> None:
    own = StripeCommand.parse("set-count {count}")
    found = reach(facts(kind="fuse", collective=False), (COUNTS,), own)
    assert [one.name for one in found.space.parameters] == ["striping_factor"]
    with pytest.raises(UsageError, match="striping_unit: has no part"):
        reach(facts(kind="fuse"), (COUNTS, Parameter.parse("striping_unit=1MiB")), own)


def test_how_many_targets_there_are_has_to_be_said() -> None:
    with pytest.raises(UsageError, match="--values striping_factor=1,2,4"):
        reach(facts(kind="fuse"), (), StripeCommand.parse("set {count}"))
    with pytest.raises(UsageError, match="needs --values striping_unit"):
        reach(facts(kind="fuse"), (COUNTS,), StripeCommand.parse("set {count} {size}"))


def test_a_constant_size_reaches_the_command() -> None:
    size = FileSize.parse("64MiB")
    assert with_size(["ior", "-b", "{file_size}", "-s={file_size/65536}"], size.at(POINT)) == [
        "ior",
        "-b",
        str(64 * MIB),
        "-s=1024",
    ]


@pytest.mark.parametrize(("text", "factor"), [("64MiB/target", 4), ("64MiB/aggregator", 2)])
def test_a_size_can_grow_with_what_is_varied(text: str, factor: int) -> None:
    assert FileSize.parse(text).at(POINT) == 64 * MIB * factor


@pytest.mark.parametrize(
    ("text", "command", "parameters", "said"),
    [
        ("64MiB/rank", ["{file_size}"], [], "256MiB/target"),
        ("0", ["{file_size}"], [], "above 0"),
        ("64MiB", ["ior"], [], "no place for it"),
        ("64MiB/target", ["{file_size}"], ["cb_nodes"], "is not varied"),
    ],
)
def test_a_size_that_makes_no_sense_is_refused(text: str, command: list[str], parameters: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        FileSize.parse(text).check(command, parameters)


def test_a_size_that_a_division_leaves_nothing_of_is_refused() -> None:
    with pytest.raises(UsageError, match="is nothing"):
        with_size(["{file_size/4096}"], 100)


def swept(interleaved: list[str], tmp_path: Path, *words: str, arguments: str) -> tuple[int, Path]:
    output, file = tmp_path / "kept", tmp_path / "file"
    command = [*interleaved, str(file), "4096", *arguments.split()]
    options = ["--runs", "6", "--before", f"rm -f {file}", "-o", str(output), "--values", "striping_factor=1,2"]
    return main(["advise", "--sweep", *options, *words, "--", *command]), output


def test_striping_of_any_file_system_is_swept_with_a_command_for_it(
    interleaved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--stripe-with", f"echo {{count}} {{dir}} >> {tmp_path}/set", "--file-size", "1MiB/target"]
    code, output = swept(interleaved, tmp_path, *words, arguments="{file_size/8192}")
    said = capsys.readouterr()
    assert code == 0, said.err
    lines = (tmp_path / "set").read_text().splitlines()
    assert set(lines) == {f"1 {tmp_path}", f"2 {tmp_path}"}
    assert len((output / "measurements.csv").read_text().splitlines()) == 7
    assert "left out" not in said.out.replace("left out: aggregators", "")
    assert (output / "speed-over-cost.png").exists()


def test_runs_of_other_sizes_are_not_compared(
    interleaved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--stripe-with", "true {count}", "--file-size", "1MiB/target"]
    ignores_it = ["env", "SIZE={file_size}", *interleaved]
    code, _ = swept(ignores_it, tmp_path, *words, arguments="64")
    assert code == 0
    assert "it moved 524,288 bytes through MPI-IO, where 1,048,576 were expected" in capsys.readouterr().out


def test_a_sweep_whose_every_run_fails_ends_early_and_says_why(
    interleaved: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _ = swept(interleaved, tmp_path, "--stripe-with", "echo no brick >&2; exit {count}", arguments="64")
    assert code == 2
    said = capsys.readouterr().err
    assert "first 4 runs all failed" in said
    assert "no brick" in said

"""`halcyon check`, and `halcyon-check` for installations without Python: the same words, the same exit codes."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("halcyon._core", reason="the compiled modules are not built")

ROOT = Path(__file__).resolve().parents[4]
CONFIGURATION = """\
halcyon: 1
simulation: tiny
parameters: {nx: 6}
data:
  layouts:
    line: {type: float64, dimensions: [nx - rank]}
  variables:
    theta: {layout: line}
stores:
  main: {path: out}
"""


PLACED = """\
halcyon: 1
simulation: tiny
parameters: {nx: 6, shift: 6, n: {value: 3, mutable: true, max: 9}}
data:
  layouts:
    rows: {type: float64, dimensions: [nx, 4]}
    y: {type: float64, dimensions: [nx * size]}
    x: {type: float64, dimensions: [5]}
  places:
    whole: {global: [nx * size, 4], offset: [rank * shift, 0]}
  meshes:
    grid: {type: rectilinear, coordinates: [y, x]}
  variables:
    theta: {layout: rows, place: whole}
    y: {layout: y, time-varying: false}
    x: {layout: x, time-varying: false}
stores:
  main: {path: out}
resources: {buffer: {size: 16 MiB}}
"""


def check(path: Path, *ranks: str, parameters: Sequence[str] = ()) -> "subprocess.CompletedProcess[str]":
    """Both, which have to agree; returns what they say."""
    program = ROOT / "build/release/bin/halcyon-check"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    options = [word for pair in zip(("--ranks", "--ranks-per-node"), ranks, strict=False) for word in pair]
    options += [word for parameter in parameters for word in ("--set", parameter)]
    verb, alone = (
        subprocess.run(command, capture_output=True, text=True, timeout=60)
        for command in (
            [sys.executable, "-m", "halcyon", "check", *options, path],
            [program, path, *ranks, *parameters],
        )
    )
    assert (verb.returncode, verb.stdout, verb.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    return verb


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    path = tmp_path / "halcyon.yaml"
    path.write_text(CONFIGURATION)
    return path


def test_a_right_configuration_is_summed_up(configuration: Path) -> None:
    done = check(configuration)
    assert (done.returncode, done.stderr) == (0, "")
    summary, verdict = done.stdout.splitlines()
    assert summary == "tiny: 1 parameter, 1 layout, 1 variable, 0 events, 1 store"
    assert verdict.startswith("OK: looked at every line, 0 actions, 1 store with its directory here")
    assert verdict.endswith("not at blocks, places and meshes: add --ranks N")
    assert check(configuration, "4").stdout.endswith("for 4 ranks, at every block, place and mesh\n")


def test_a_path_that_open_could_not_make_is_refused(configuration: Path) -> None:
    (configuration.parent / "file").touch()
    path = configuration.parent / "file" / "below" / "out"
    configuration.write_text(CONFIGURATION.replace("path: out", f"path: {path}"))
    done = check(configuration)
    assert done.returncode == 1
    assert f"stores.main.path: output directory {path} cannot be made: {path.parents[1]}: Not a dir" in done.stderr
    assert "OK" not in done.stdout


def test_a_buffer_beyond_all_memory_is_refused(configuration: Path) -> None:
    configuration.write_text(CONFIGURATION + "resources: {buffer: {size: 4096 TiB}}\n")
    # One of them: what is available changes from one moment to the next.
    verb = [sys.executable, "-m", "halcyon", "check", configuration]
    done = subprocess.run(verb, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "resources.buffer.size: 4096 TiB are more than the memory" in done.stderr


def test_no_store_is_a_warning_with_the_count_of_variables(configuration: Path) -> None:
    configuration.write_text(CONFIGURATION[: CONFIGURATION.index("stores:")])
    done = check(configuration)
    assert done.returncode == 0
    assert done.stderr.startswith("halcyon: warning: no 'stores:': the output of 1 variable(s) is accepted and dropped")


def test_parameters_are_set_as_the_simulation_would(configuration: Path) -> None:
    assert "16 B per iteration of 2 ranks" not in check(configuration, "2").stdout
    done = check(configuration, "2", parameters=["nx=2"])
    assert "; 24 B per iteration of 2 ranks" in done.stdout  # 8 × (2 + 1)
    assert "no parameter 'ny'; known parameters: nx" in check(configuration, parameters=["ny=2"]).stderr
    verb = [sys.executable, "-m", "halcyon", "check", "--set", "nx=two", configuration]
    for command in (verb, [ROOT / "build/release/bin/halcyon-check", configuration, "nx=two"]):
        assert subprocess.run(command, capture_output=True, timeout=60).returncode == 2


def test_with_ranks_the_bytes_of_an_iteration_are_said(configuration: Path) -> None:
    said = check(configuration, "4").stdout
    assert "1 store; 144 B per iteration of 4 ranks; a node of 4 ranks needs at least " in said  # 8 × (6 + 5 + 4 + 3)


def test_with_ranks_a_block_that_cannot_be_is_found(configuration: Path) -> None:
    assert check(configuration).returncode == 0
    done = check(configuration, "8")
    assert (done.returncode, done.stdout) == (1, "")
    assert "line" in done.stderr
    assert "-1" in done.stderr


def test_a_mistake_is_reported_with_its_line(configuration: Path) -> None:
    configuration.write_text(CONFIGURATION.replace("layout: line", "layout: lime"))
    done = check(configuration)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{configuration}:8: data.variables.theta.layout: no layout 'lime'" in done.stderr


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert check(tmp_path / "none.yaml").stderr == f"halcyon: {tmp_path}/none.yaml: No such file or directory\n"
    assert check(tmp_path).stderr == f"halcyon: {tmp_path}: Is a directory\n"


def test_directories_that_cannot_be_made_are_refused(configuration: Path) -> None:
    circle = configuration.parent / "circle"
    circle.symlink_to("circle")
    nowhere = configuration.parent / "nowhere"
    nowhere.symlink_to("none/such")
    long = configuration.parent / ("p" * 300) / "out"
    for place, why in [
        (circle, "Too many levels of symbolic links"),
        (circle / "out", "Too many levels of symbolic links"),
        (nowhere / "out", "No such file or directory"),
        (long, "File name too long"),
        (configuration.parent / "missing" / ("p" * 300), "File name too long"),
        (Path("/proc/foo/out"), "/proc: No such file or directory"),
        (Path("/sys/kernel/out"), "/sys/kernel: "),
    ]:
        configuration.write_text(CONFIGURATION.replace("path: out", f"path: {place}"))
        done = check(configuration)
        assert done.returncode == 1, place
        assert f"output directory {place} cannot be made: " in done.stderr
        assert why in done.stderr


@pytest.mark.parametrize("exists", [False, True])
def test_a_directory_is_tried_and_left_as_it_was(configuration: Path, exists: bool) -> None:
    parent = configuration.parent / "runs"
    parent.mkdir()
    if exists:
        (parent / "out").mkdir()
    tried = parent / "out" if exists else parent
    os.utime(tried, ns=(10**18, 10**18 + 1))
    before = tried.stat()
    configuration.write_text(CONFIGURATION.replace("path: out", f"path: {parent}/out"))
    assert check(configuration).returncode == 0
    after = tried.stat()
    assert after.st_ctime_ns > before.st_ctime_ns, "it was not tried"
    assert after.st_mtime_ns == 10**18 + 1
    assert list(tried.iterdir()) == []


def test_a_directory_that_exists_and_takes_nothing_is_refused(configuration: Path) -> None:
    """Of root, permissions say that it may write there."""
    configuration.write_text(CONFIGURATION.replace("path: out", "path: /sys/kernel"))
    done = check(configuration)
    assert done.returncode == 1
    assert re.search(r"stores.main.path: output directory /sys/kernel", done.stderr)


def test_a_log_directory_that_cannot_be_made_is_refused(configuration: Path) -> None:
    for place, why in [("/dev/null/logs", "/dev/null: Not a directory"), ("/proc/logs", "/proc: No such file")]:
        configuration.write_text(CONFIGURATION + f"resources: {{server: {{log-directory: {place}}}}}\n")
        done = check(configuration)
        assert done.returncode == 1
        key = "halcyon.yaml:11: resources.server.log-directory"
        assert f"{key}: log directory {place} cannot be made: {why}" in done.stderr
        configuration.write_text("inline: true\n" + configuration.read_text())
        assert check(configuration).returncode == 0, "no server, no log"


def test_without_stores_the_verdict_names_none(configuration: Path) -> None:
    configuration.write_text(CONFIGURATION[: CONFIGURATION.index("stores:")])
    assert check(configuration).stdout.splitlines()[1].startswith("OK: looked at every line, 0 actions, the buffer")
    two = CONFIGURATION.replace("layout: line}", "layout: line, store: main}") + "  other: {path: elsewhere}\n"
    configuration.write_text(two)
    assert "0 actions, 2 stores with their directories here, the buffer" in check(configuration).stdout


def test_directories_that_open_refuses_are_refused(configuration: Path) -> None:
    out = configuration.parent / "out"
    spill = configuration.parent / "spill"
    policy = f"resources: {{buffer: {{when-full: spill, spill-directory: {spill}}}}}\n"
    configuration.write_text(CONFIGURATION.replace("path: out", f"path: {out}") + policy)
    done = check(configuration)
    assert done.returncode == 1
    told = f"resources.buffer.spill-directory: {spill} (wanted by variable 'theta'): No such file"
    assert f"halcyon.yaml:11: {told}" in done.stderr
    spill.mkdir()
    assert check(configuration).returncode == 0
    assert not out.exists(), "a check makes nothing"
    out.mkdir()
    (out / "counts-n0000.json").touch()
    assert check(configuration).returncode == 0, "what an open that failed has left"
    (out / "tiny.n0000.i00000000.h5").touch()
    done = check(configuration)
    assert done.returncode == 1
    told = f"stores.main.path: output directory {out} already holds a run (tiny.n0000.i00000000.h5): move it away"
    assert f"halcyon.yaml:10: {told}" in done.stderr
    configuration.write_text(configuration.read_text().replace(f"path: {out}", f"path: {out}, existing: replace"))
    assert check(configuration).returncode == 0
    assert len(list(out.iterdir())) == 2, "a check deletes nothing"


def test_no_ranks_are_refused_by_both(configuration: Path) -> None:
    verb = [sys.executable, "-m", "halcyon", "check", "--ranks", "0", configuration]
    for command in (verb, [ROOT / "build/release/bin/halcyon-check", configuration, "0"]):
        assert subprocess.run(command, capture_output=True, timeout=60).returncode == 2


def checked(tmp_path: Path, old: str, new: str, *ranks: str) -> "subprocess.CompletedProcess[str]":
    path = tmp_path / "halcyon.yaml"
    assert old in PLACED
    path.write_text(PLACED.replace(old, new))
    return check(path, *ranks)


def test_blocks_that_tile_their_whole_are_nothing_to_speak_of(tmp_path: Path) -> None:
    done = checked(tmp_path, "", "", "4")
    assert (done.returncode, done.stderr) == (0, "")


def test_blocks_that_overlap_and_holes_are_told(tmp_path: Path) -> None:
    done = checked(tmp_path, "shift: 6", "shift: 5", "4")
    assert done.returncode == 0
    assert "halcyon.yaml:10: data.places.whole: variable 'theta', a whole of 24 x 4; " in done.stderr
    assert "rank 0 has [0:6, 0:4] and rank 1 has [5:11, 0:4]: they overlap" in done.stderr
    assert "no rank covers 12 of its elements, [21:24, 0:4] among them" in done.stderr


def test_a_forgotten_rank_is_told_unless_the_values_do_not_vary_in_time(tmp_path: Path) -> None:
    done = checked(tmp_path, "shift: 6", "shift: 0", "2")
    assert "rank 0 and rank 1 both have [0:6, 0:4], and which of them readers find there is not defined" in done.stderr
    path = tmp_path / "halcyon.yaml"
    path.write_text(path.read_text().replace("theta: {layout: rows", "theta: {time-varying: false, layout: rows"))
    assert "both have" not in check(path, "2").stderr


def test_holes_alone_are_told(tmp_path: Path) -> None:
    done = checked(tmp_path, "global: [nx * size, 4]", "global: [nx * size, 5]", "4")
    assert "no rank covers 24 of its elements, [0:24, 4:5] among them" in done.stderr
    assert "overlap" not in done.stderr


def test_a_place_that_a_program_may_move_is_not_judged(tmp_path: Path) -> None:
    assert checked(tmp_path, "rank * shift", "rank * n", "4").stderr == ""


def test_processes_may_share_a_coordinate(tmp_path: Path) -> None:
    whole = "whole: {global: [5], offset: [0]}"
    text = PLACED.replace("whole: {global: [nx * size, 4], offset: [rank * shift, 0]}", whole)
    path = tmp_path / "halcyon.yaml"
    path.write_text(
        text.replace("theta: {layout: rows, place: whole}", "z: {layout: x, place: whole, time-varying: false}")
    )
    assert check(path, "4").stderr == ""


def test_a_mesh_that_does_not_fit_is_told_with_both_shapes(tmp_path: Path) -> None:
    done = checked(tmp_path, "place: whole}", "place: whole, mesh: grid}", "4")
    assert done.returncode == 0
    misfit = "variable 'theta' has the shape 24 x 4, but mesh 'grid' has 24 x 5 nodes and 23 x 4 cells"
    assert f"halcyon.yaml:14: data.variables.theta.mesh: {misfit}" in done.stderr
    fits = PLACED.replace("dimensions: [5]", "dimensions: [4]").replace("place: whole}", "place: whole, mesh: grid}")
    (tmp_path / "halcyon.yaml").write_text(fits)
    assert check(tmp_path / "halcyon.yaml", "4").stderr == ""


def test_a_mesh_without_stored_coordinates_is_told(tmp_path: Path) -> None:
    text = PLACED.replace("dimensions: [5]", "dimensions: [4]").replace("place: whole}", "place: whole, mesh: grid}")
    path = tmp_path / "halcyon.yaml"
    path.write_text(re.sub(r"^( +x: \{)(?=layout)", r"\1store: false, ", text, count=1, flags=re.MULTILINE))
    done = check(path, "4")
    assert done.returncode == 0
    told = "variable 'theta' is on mesh 'grid', whose coordinate 'x' is not stored beside it"
    assert f"data.variables.theta.mesh: {told}" in done.stderr


def test_a_mesh_of_several_ranks_without_a_place_is_told(tmp_path: Path) -> None:
    done = checked(tmp_path, "place: whole}", "mesh: grid}", "4")
    told = "variable 'theta' is on mesh 'grid', but has no place, so its blocks are not one array"
    assert f"data.variables.theta.mesh: {told}" in done.stderr


def test_output_that_nothing_can_draw_is_told(tmp_path: Path) -> None:
    without = "no tiny.xmf for ParaView: no variable of two or three dimensions has a place"
    assert without in checked(tmp_path, ", place: whole}", "}", "4").stdout
    assert without not in checked(tmp_path, "16 MiB", "16 MiB", "4").stdout


def test_a_mesh_that_a_group_gives_its_variables_is_told_with_the_line_of_the_group(tmp_path: Path) -> None:
    group = "  groups:\n    air: {mesh: grid, variables: {wind: {layout: rows, place: whole}}}\n"
    done = checked(tmp_path, "stores:\n", f"{group}stores:\n", "4")
    assert "halcyon.yaml:18: data.groups.air.mesh: variable 'air/wind' has the shape 24 x 4" in done.stderr


def test_a_store_that_cannot_be_loaded_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "halcyon.yaml"
    path.write_text(PLACED.replace("main: {path: out}", "main: {path: out, type: absent}"))
    # Not both: they look for modules in different folders, and say in which.
    command = [sys.executable, "-m", "halcyon", "check", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "halcyon.yaml:18: stores.main.type: " in done.stderr
    assert "libhalcyon_store_absent.so" in done.stderr


def test_a_buffer_is_checked_for_each_node(tmp_path: Path) -> None:
    done = checked(tmp_path, "16 MiB", "1 MiB", "8")
    assert done.returncode == 1
    needed = int(done.stderr.rsplit("set at least ", 1)[1].split()[0])
    assert "halcyon.yaml:19: resources.buffer.size: 1048576 bytes (1 MiB) for 8 clients" in done.stderr
    assert checked(tmp_path, "16 MiB", "1 MiB", "8", "4").returncode == 0
    assert checked(tmp_path, "16 MiB", f"{needed} B", "8").returncode == 0
    assert checked(tmp_path, "16 MiB", f"{needed - 1} B", "8").returncode == 1


def test_code_that_cannot_be_loaded_is_told(tmp_path: Path) -> None:
    events = "events: {e: {actions: [a], scope: client}}\nactions: {a: {type: module, module: MODULE, function: f}}\n"
    path = tmp_path / "halcyon.yaml"
    path.write_text(PLACED + events.replace("MODULE", "libabsent.so"))
    done = check(path)
    assert done.returncode == 1
    assert "halcyon.yaml:21: actions.a.module: libabsent.so: cannot open" in done.stderr
    path.write_text(PLACED + events.replace("MODULE", "libm.so.6"))
    assert "actions.a.function: " in check(path).stderr


def test_ranks_per_node_need_ranks(tmp_path: Path) -> None:
    path = tmp_path / "halcyon.yaml"
    path.write_text(PLACED)
    verb = [sys.executable, "-m", "halcyon", "check", "--ranks-per-node", "2", path]
    done = subprocess.run(verb, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "halcyon: --ranks-per-node needs to know of how many: add --ranks N\n")


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("collective: true", "stores of type 'zarr' cannot be written by several servers together; use hdf5"),
        (
            "view-interval: 5 s",
            "stores of type 'zarr' have no view, whose interval this would be; remove the setting, or use hdf5",
        ),
    ],
)
def test_what_a_format_lacks_is_refused_with_its_line(configuration: Path, setting: str, why: str) -> None:
    configuration.write_text(CONFIGURATION.replace("{path: out}", f"{{type: zarr, path: out, {setting}}}"))
    done = check(configuration)
    assert done.returncode == 1
    assert f"halcyon.yaml:10: stores.main.{setting.partition(':')[0]}: {why}" in done.stderr
    configuration.write_text(CONFIGURATION.replace("{path: out}", "{type: zarr, path: out}"))
    assert check(configuration).returncode == 0


def test_what_only_a_view_could_show_is_not_missed_without_one(tmp_path: Path) -> None:
    path = tmp_path / "halcyon.yaml"
    for store in ("{path: out}", "{type: zarr, path: out}"):
        path.write_text(PLACED.replace("place: whole}", "mesh: grid}").replace("{path: out}", store))
        done = check(path, "4")
        assert done.returncode == 0, done.stderr
        assert ("mesh 'grid'" in done.stderr) == ("zarr" not in store)
        assert ("for ParaView" in done.stdout) == ("zarr" not in store)

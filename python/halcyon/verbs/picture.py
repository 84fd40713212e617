"""`halcyon picture RUN`"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from halcyon.errors import ConfigError, HalcyonSystemError, UsageError
from halcyon.verbs.diff import iteration_range

if TYPE_CHECKING:
    from halcyon.insitu.pictures.description import Picture
    from halcyon.insitu.pictures.files import Shown
    from halcyon.insitu.pictures.stored import StoredRun

SUMMARY = "draw pictures of a run's stored blocks"
DESCRIPTION = (
    "Draws slices, contour lines, iso-surfaces, volumes, arrows and streamlines from the meshes that halcyon.yaml "
    "describes. What is drawn is said by --kind and --variable, or by a file. The ending of OUT says what is made: a "
    "picture (.png), an animation (.gif, .apng, .webp), a page with all of it (.html), or else a folder of pictures."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_directory", metavar="RUN", type=Path, help="directory of the run")
    parser.add_argument("--kind", help="slice, contour, quiver, iso-surface, volume, glyph or streamlines")
    parser.add_argument("--variable", metavar="NAME", help="the variable whose values are drawn")
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="more of the picture, with values as in YAML: 'levels=[1, 2]', 'plane={normal: y, at: 50 %%}'",
    )
    parser.add_argument(
        "--picture", metavar="FILE", type=Path, help="a YAML file with a picture, or with several by their names"
    )
    parser.add_argument(
        "--iterations", metavar="FIRST:LAST", type=iteration_range, help="draw these; by default the last one alone"
    )
    parser.add_argument("--every", metavar="N", type=int, default=1, help="of these only each N-th")
    parser.add_argument(
        "--compare",
        action="store_true",
        help="with regions: draw without them, too, to tell the seconds that they save",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        action="append",
        default=[],
        help="may be given more than once; default: pictures",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.every < 1:
        raise UsageError(f"--every {arguments.every}: expected a whole number above 0")
    pictures = _pictures(arguments)
    outputs: list[Path] = arguments.output or [Path("pictures")]
    _check_outputs(outputs)

    from halcyon.insitu.pictures.stored import StoredRun

    with StoredRun(arguments.run_directory) as stored:
        if not pictures:
            raise UsageError(
                "nothing to draw: give --kind and --variable, or --picture; variables on meshes: "
                f"{', '.join(stored.drawable) or 'none'}"
            )
        iterations = _iterations(arguments, stored)
        shown = [one for picture in pictures for one in _drawn(stored, picture, iterations, arguments.compare)]
    for output in outputs:
        _save(output, arguments.run_directory, shown)
    _say(shown)
    return 0


def _pictures(arguments: argparse.Namespace) -> list["Picture"]:
    import yaml

    from halcyon.insitu.pictures.description import parse_picture

    said: dict[str, Any] = {}
    for pair in arguments.set:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"--set {pair}: expected KEY=VALUE, as in levels=10")
        try:
            said[key] = yaml.safe_load(value)
        except yaml.YAMLError as why:
            raise UsageError(f"--set {pair}: the value is no YAML") from why
    for key in ("kind", "variable"):
        if getattr(arguments, key) is not None:
            said[key] = getattr(arguments, key)
    if arguments.picture is None:
        return [parse_picture({"name": str(said.get("variable", "picture")).replace("/", "-"), **said})] if said else []
    listed = _file(arguments.picture)
    one = {"kind", "layers"} & listed.keys()
    named = {arguments.picture.stem: listed} if one else listed
    return [
        parse_picture(
            {"name": name, **picture, **said} if isinstance(picture, Mapping) else picture,
            f"{arguments.picture}: {name}",
        )
        for name, picture in named.items()
    ]


def _file(path: Path) -> dict[str, Any]:
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    except (yaml.YAMLError, UnicodeDecodeError) as why:
        mark = getattr(why, "problem_mark", None)
        raise ConfigError(f"{path}:{mark.line + 1 if mark else 1}: no YAML: {getattr(why, 'problem', why)}") from why
    if not isinstance(values, dict) or not values or not all(isinstance(key, str) for key in values):
        raise ConfigError(f"{path}:1: expected a picture, a map with kind, or a map of pictures by their names")
    return values


def _check_outputs(outputs: Sequence[Path]) -> None:
    from halcyon.insitu.pictures.files import ENDINGS

    for output in outputs:
        if output.suffix.lower() in ENDINGS:
            if not output.parent.is_dir():
                raise UsageError(f"-o {output}: {output.parent} is no directory; create it, or name another one")
            if output.is_dir():
                raise UsageError(f"-o {output}: a directory of this name exists; expected the name of a file")
        elif output.suffix and not output.is_dir():
            raise UsageError(f"-o {output}: expected a folder, or a name that ends in {', '.join(ENDINGS)}")
        elif output.exists() and not output.is_dir():
            raise UsageError(f"-o {output}: a file of this name exists; expected a folder")


def _iterations(arguments: argparse.Namespace, stored: "StoredRun") -> list[int]:
    wanted = arguments.iterations
    if wanted is None:
        return stored.iterations[-1:]
    found = [i for i in stored.iterations if i in wanted][:: arguments.every]
    if not found:
        raise UsageError(
            f"none of these iterations is stored; the run has {stored.iterations[0]} to {stored.iterations[-1]}"
        )
    return found


def _drawn(stored: "StoredRun", picture: "Picture", iterations: Sequence[int], compare: bool) -> list["Shown"]:
    """Of several iterations ranges and camera are those of all of them: else an animation would flicker."""
    from halcyon.insitu.pictures.draw import make_picture, prepare
    from halcyon.insitu.pictures.files import Shown
    from halcyon.insitu.pictures.survey import join

    shared = None
    if len(iterations) > 1:
        shared = join([prepare(stored.frame(i, picture.names), picture).survey for i in iterations])
    shown = []
    for i in iterations:
        made = make_picture(stored.frame(i, picture.names), picture, survey=shared, compare=compare)
        shown.append(Shown(picture.name, i, made.pixels, made.seconds, made.saving, made.open_seams))
    return shown


def _save(output: Path, run_directory: Path, shown: Sequence["Shown"]) -> None:
    from halcyon.insitu.pictures.files import save_animation, save_gallery, save_png

    ending = output.suffix.lower()
    if ending == ".html":
        size = save_gallery(f"Pictures of {run_directory.absolute().name}", shown, output)
        print(f"{output} ({size / 1e3:.0f} kB)")
    elif ending in (".gif", ".apng", ".webp"):
        for name, path in _by_name(output, shown):
            save_animation([one.pixels for one in shown if one.name == name], path)
            print(path)
    elif ending == ".png":
        for name, path in _by_name(output, shown):
            of_name = [one for one in shown if one.name == name]
            for one in of_name:
                numbered = path.with_stem(f"{path.stem}.i{one.iteration:08d}") if len(of_name) > 1 else path
                save_png(one.pixels, numbered)
                print(numbered)
    else:
        output.mkdir(parents=True, exist_ok=True)
        for one in shown:
            path = output / f"{one.name}.i{one.iteration:08d}.png"
            save_png(one.pixels, path)
            print(path)


def _by_name(output: Path, shown: Sequence["Shown"]) -> list[tuple[str, Path]]:
    """A file for each picture: the name alone where there is one."""
    names = list(dict.fromkeys(one.name for one in shown))
    return [(name, output if len(names) == 1 else output.with_stem(f"{output.stem}-{name}")) for name in names]


def _say(shown: Sequence["Shown"]) -> None:
    from halcyon.quantities import plural, seconds, size

    for one in shown:
        if one.saving is not None:
            saving = one.saving
            in_time = ""
            if saving.seconds is not None and saving.full_seconds is not None:
                in_time = f", {seconds(saving.seconds)} instead of {seconds(saving.full_seconds)}"
            full = f"{saving.full_blocks} of {plural(saving.blocks, 'block')} in full"
            in_bytes = f"{size(saving.drawn_bytes)} drawn instead of {size(saving.full_bytes)}"
            print(f"{one.name}, iteration {one.iteration}: {full}, {in_bytes}{in_time}")
    seams = max((one.open_seams for one in shown), default=0)
    if seams:
        ends = plural(seams, "end")
        told = f"{ends} of blocks with neither neighbour nor ghost layer: gaps of one cell"
        print(f"halcyon: warning: {told}", file=sys.stderr)

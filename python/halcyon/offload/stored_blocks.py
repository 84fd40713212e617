"""What the data files of a run hold, block by block, for those who compare runs.

Of a run of Halcyon's servers that is every block with its place, whichever file, part, node or client wrote it, in
whichever format, and how variables are described. Of other files it is the datasets, by their paths.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halcyon.errors import UsageError
from halcyon.offload.data_files import FORMATS, FileContents, Format, format_of, reading
from halcyon.whole_text import read_whole_text

_DOMAIN = re.compile(r"^d(\d{6,})(?:\.\d+)?$")
_WHOLE_PATTERN = re.compile(r"^whole(?:\.\d+)?$")
WHOLE = -1
"""Domain of a dataset that holds all blocks of a placed variable."""
PLACE_ATTRIBUTES = ("global", "offset", "ghost_before", "ghost_after")


@dataclass(frozen=True)
class Key:
    variable: str
    domain: int
    iteration: int | None
    """None: a time-invariant variable."""

    def order(self) -> tuple[str, int, int]:
        """To sort by; iterations may be None."""
        return (self.variable, self.domain, -1 if self.iteration is None else self.iteration)

    def __str__(self) -> str:
        when = "" if self.iteration is None else f", iteration {self.iteration}"
        return f"{self.variable}, domain {self.domain}{when}"


@dataclass(frozen=True)
class Block:
    """Where a block lies; its elements are read when they are compared."""

    file: Path
    dataset: str
    row: int
    place: dict[str, tuple[int, ...]]
    rank: int = -1
    number: int = 0


class Contents:
    """What the files of a run hold, without the elements."""

    def __init__(self) -> None:
        self.blocks: dict[Key, Block] = {}
        self.descriptions: dict[str, list[dict[str, object]]] = {}
        """Of each variable: as its files describe it, which is more than one way where they disagree."""
        self.missing: set[tuple[str, int, int, int, str]] = set()
        self.iterations: set[int] = set()
        """Those that are compared."""
        self.all_iterations: set[int] = set()
        self.plain: dict[str, Path] = {}
        self.meshes: dict[str, dict[str, Any]] = {}

    def whole_variables(self) -> set[str]:
        return {key.variable for key in self.blocks if key.domain == WHOLE}

    def times(self, variable: str) -> dict[int | None, list[Block]]:
        """The blocks of each iteration; single ones after the whole, which they replace in part."""
        found: dict[int | None, list[Block]] = {}
        for key in sorted((k for k in self.blocks if k.variable == variable), key=Key.order):
            found.setdefault(key.iteration, []).append(self.blocks[key])
        return found


def _files(path: Path) -> list[tuple[Format, Path]]:
    if not path.is_dir() and not path.is_file():
        raise UsageError(f"{path}: neither a directory nor a file")
    files = [(known, file) for known in FORMATS for file in known.files_in(path)] if path.is_dir() else []
    # A directory of a store may be called like a folder of Zarr.
    if path.is_file() or (format_of(path).is_folder and not files):
        return [(format_of(path), path)]
    data = [(known, file) for known, file in files if known.place_of(file)]
    # What is left of a run without its data files is a view of nothing.
    if data or _is_run_of_servers(path):
        return data
    if files:
        return files
    kinds = " and no ".join(known.title for known in FORMATS)
    raise UsageError(f"{path}: holds no {kinds}; give the directory of a store or one of its files")


def _is_run_of_servers(path: Path) -> bool:
    try:
        return str(json.loads(read_whole_text(path / "run.json"))["approach"]).startswith("halcyon")
    except (OSError, ValueError, LookupError, TypeError):
        return False


def contents_of(path: Path, wanted: range | None) -> Contents:
    contents = Contents()
    files = _files(path)
    # Later parts of an iteration replace earlier ones, as in the view.
    for known, file in sorted(files, key=lambda f: (*(f[0].place_of(f[1]) or (-1, 0)), f[1].name)):
        with reading(file):
            opened = known.open(file)
            try:
                if opened.is_of_store():
                    _take_store_file(contents, file, opened.contents(), wanted)
                else:
                    prefix = f"{file.name}:" if len(files) > 1 else ""
                    contents.plain.update((f"{prefix}/{name}", file) for name in opened.plain_arrays())
            finally:
                opened.close()
    return contents


def _take_store_file(contents: Contents, path: Path, file: FileContents, wanted: range | None) -> None:
    def is_wanted(iteration: int) -> bool:
        return wanted is None or iteration in wanted

    iterations = file.iterations
    contents.meshes.update((str(mesh["name"]), mesh) for mesh in file.meshes)
    contents.all_iterations.update(iterations)
    contents.iterations.update(filter(is_wanted, iterations))
    contents.missing.update(entry for entry in file.missing if is_wanted(entry[1]))
    for variable in file.variables:
        known = contents.descriptions.setdefault(variable.name, [])
        if variable.attributes not in known:
            known.append(variable.attributes)
        varies = bool(variable.attributes["time_varying"])
        for array in variable.arrays:
            domain = _domain(array.name)
            if domain is None:
                continue
            place = {a: tuple(int(v) for v in array.attributes[a]) for a in PLACE_ATTRIBUTES}
            rows = array.attributes.get("rows", range(array.row_count))
            if len(rows) > max(1, len(iterations)):
                raise ValueError(f"{array.path} has {len(rows)} rows for {len(iterations)} iterations")
            for row in rows:
                if varies and not is_wanted(iterations[row]):
                    continue
                key = Key(variable.name, domain, iterations[row] if varies else None)
                who = int(array.attributes.get("rank", -1)), int(array.attributes.get("block", 0))
                contents.blocks[key] = Block(path, array.path, int(row), place, *who)


def _domain(array_name: str) -> int | None:
    if _WHOLE_PATTERN.match(array_name):
        return WHOLE
    found = _DOMAIN.match(array_name)
    return int(found.group(1)) if found else None

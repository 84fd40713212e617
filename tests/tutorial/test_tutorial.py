"""Whoever follows docs/tutorial.md, block by block in an empty folder, sees what it says."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/tutorial.md"
STEP_ENDS = "-- the step ends with status "


@dataclass(frozen=True)
class Block:
    """A fenced block: a file to be saved where it has a title."""

    language: str
    title: str
    text: str


@dataclass(frozen=True)
class Step:
    """A line of the shell, and the output that the page shows for it."""

    script: str
    output: str

    @property
    def pattern(self) -> str:
        """As a regular expression: `…` stands for anything."""
        return ".*".join(re.escape(part) for part in self.output.split("…"))


def blocks() -> list[Block]:
    fence = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
    return [Block(*found) for found in fence.findall(PAGE.read_text(encoding="utf-8"))]


def steps() -> list[Step]:
    """What the reader does, in order."""
    found = []
    for block in blocks():
        if block.title:
            found.append(Step(f"cat > {block.title} <<'end of the file'\n{block.text}end of the file\n", ""))
        if block.language == "console":
            for command in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                line, _, output = command.partition("\n")
                found.append(Step(f"{line}\n", output))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reader")


@pytest.fixture(scope="module")
def outcomes(folder: Path) -> list[tuple[str, str]]:
    """Output and status of each step, all made by one shell whose home has Halcyon where the page installs it."""
    home = folder / "home"
    (home / "bin").mkdir(parents=True)
    (home / "halcyon").symlink_to(os.environ["PREFIX"])
    (home / "halcyon-python").symlink_to(sys.prefix)
    launcher = home / "bin/mpirun"
    launcher.write_text(f'#!/bin/sh\nexec {os.environ["MPIRUN"]} "$@"\n', encoding="utf-8")
    launcher.chmod(0o755)
    script = [f"{{\n{step.script}}} </dev/null 2>&1\necho '{STEP_ENDS}'$?\n" for step in steps()]
    (home / "steps.sh").write_text("".join(script), encoding="utf-8")
    builds = {"LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "PYTHONPATH"}  # what would find another Halcyon
    environment = {name: v for name, v in os.environ.items() if name not in builds and not name.startswith("HALCYON_")}
    environment |= {"HOME": str(home), "PATH": f"{home}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    (folder / "empty").mkdir()
    done = subprocess.run(
        ["bash", home / "steps.sh"],
        cwd=folder / "empty",
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=240,
    )
    ended = re.split(rf"{re.escape(STEP_ENDS)}(\d+)\n", done.stdout)
    return list(zip(ended[0::2], ended[1::2], strict=False))


@pytest.mark.parametrize("number", range(len(steps())), ids=[step.script.split("\n")[0] for step in steps()])
def test_a_step_does_what_the_page_says(outcomes: list[tuple[str, str]], number: int) -> None:
    assert number < len(outcomes), "the shell ended before this step"
    output, status = outcomes[number]
    assert status == "0", output
    assert re.fullmatch(steps()[number].pattern, output, re.DOTALL), output


def test_the_picture_is_the_one_that_the_steps_make(outcomes: list[tuple[str, str]], folder: Path) -> None:
    assert outcomes
    made, shown = imread(folder / "empty/temperature.png"), imread(ROOT / "docs/images/tutorial-temperature.png")
    assert made.shape == shown.shape
    assert np.abs(made - shown).mean() < 0.01  # fonts differ a little from system to system


EXAMPLES = {"halcyon.yaml": "00_write", **dict.fromkeys(("write.c", "write.cpp", "write.f90", "write.py"), "00_write")}
EXAMPLES |= dict.fromkeys(("zero_copy.c", "zero_copy.py"), "01_zero_copy")


@pytest.mark.parametrize(("name", "folder_of_example"), EXAMPLES.items())
def test_a_file_of_the_page_is_the_example(name: str, folder_of_example: str) -> None:
    (text,) = (block.text for block in blocks() if block.title == name)
    assert text == (ROOT / "apps" / folder_of_example / name).read_text(encoding="utf-8")


def test_the_installation_names_what_exists() -> None:
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    install = "".join(block.text for block in blocks() if block.language == "sh")
    targets = re.findall(r"^make (\w+)$", install, re.MULTILINE)
    assert targets == ["build", "wheel"]
    assert all(re.search(rf"^{target}:", made, re.MULTILINE) for target in targets)
    (extra,) = re.findall(r"\.whl\)\[(\w+)\]", install)
    assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")

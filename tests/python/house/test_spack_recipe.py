"""The Spack recipe speaks of options that CMake knows."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RECIPE = ROOT / "packaging/spack/spack_repo/halcyon/packages/halcyon/package.py"


def test_every_option_of_the_recipe_is_an_option_of_the_build() -> None:
    text = (ROOT / "CMakeLists.txt").read_text()
    known = set(re.findall(r"^(?:option|set)\((HALCYON_\w+)", text, re.MULTILINE))
    calls = [node for node in ast.walk(ast.parse(RECIPE.read_text())) if isinstance(node, ast.Call)]
    defined = {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr.startswith("define")
        and isinstance(call.args[0], ast.Constant)
    }
    ours = {name for name in defined if str(name).startswith("HALCYON_")}
    assert {"HALCYON_MPI", "HALCYON_FORTRAN", "HALCYON_TESTS"} <= ours
    assert ours <= known, f"not options of CMakeLists.txt: {ours - known}"


def test_the_recipe_installs_this_repository() -> None:
    assert RECIPE.resolve().parents[6] == ROOT
    assert "parents[6]" in RECIPE.read_text()

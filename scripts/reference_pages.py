"""MkDocs hook: the API reference, made from headers, Fortran module and Python package at every build."""

import subprocess
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
import doxygen_pages
import fortran_pages

ROOT = Path(__file__).resolve().parent.parent
HEADERS = sorted(path for path in (ROOT / "include" / "halcyon").iterdir() if path.suffix in {".h", ".hpp"})
FORTRAN_MODULES = {
    "fortran": ROOT / "fortran" / "halcyon.F90",
    "fortran_turns": ROOT / "fortran" / "halcyon_turns.f90",
}
"""Each with the name of its page."""
PYTHON_MODULES = ("halcyon", "halcyon.client", "halcyon.turns", "halcyon.logfs")


def _uri(header: Path) -> str:
    return f"reference/{header.name.replace('.', '_')}.md"


def _python_uri(module: str) -> str:
    return f"reference/python_{module.replace('.', '_')}.md"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds the pages to the navigation's Reference."""
    languages = {".h": "C", ".hpp": "C++"}
    pages = [{f"{languages[header.suffix]}: {header.name}": _uri(header)} for header in HEADERS]
    pages += [{f"Fortran: {source.stem}": f"reference/{page}.md"} for page, source in FORTRAN_MODULES.items()]
    pages.append({"Recorded functions": "interposed-functions.md"})
    pages += [{f"Python: {module}": _python_uri(module)} for module in PYTHON_MODULES]
    for section in config.nav or []:
        if isinstance(section, dict) and "Reference" in section:
            section["Reference"] += pages
    return config


def _interposed_functions(output: Path) -> str:
    """The page that the table of interposed functions prints of itself (src/calls/record/table.def)."""
    program = output / "interposed-functions"
    source = ROOT / "src" / "programs" / "io" / "interposed_functions.cpp"
    subprocess.run(["c++", "-std=c++20", f"-I{ROOT / 'src'}", source, "-o", program], check=True)
    return subprocess.run([program, "page"], check=True, capture_output=True, text=True).stdout


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Runs Doxygen over the public headers and adds a page for each; adds those of all other languages."""
    output = ROOT / "build" / "docs"
    output.mkdir(parents=True, exist_ok=True)
    settings = (ROOT / "docs" / "Doxyfile").read_text()
    settings += f'\nINPUT = "{ROOT / "include" / "halcyon"}"\nOUTPUT_DIRECTORY = "{output}"\n'
    for old in (output / "xml").glob("*.xml"):
        old.unlink()
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
    for header in HEADERS:
        content = doxygen_pages.page(header, f"halcyon/{header.name}", output / "xml")
        files.append(File.generated(config, _uri(header), content=content))
    for page, source in FORTRAN_MODULES.items():
        files.append(File.generated(config, f"reference/{page}.md", content=fortran_pages.page(source)))
    content = _interposed_functions(output)
    files.append(File.generated(config, "interposed-functions.md", content=content))
    for module in PYTHON_MODULES:
        content = f"# Python: {module}\n\n::: {module}\n"
        files.append(File.generated(config, _python_uri(module), content=content))
    return files

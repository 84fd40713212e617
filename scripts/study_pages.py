"""MkDocs hook: the page of measured Δ-graphs, printed at every build by bench/study/studies_page.py; its pictures."""

import os
import subprocess
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
STUDY = ROOT / "bench" / "study"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the page, and the pictures that lie beside the data."""
    paths = {"PYTHONPATH": os.pathsep.join(str(ROOT / one) for one in ("python", "bench", "bench/study"))}
    command = [sys.executable, str(STUDY / "studies_page.py")]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ | paths).stdout
    files.append(File.generated(config, "delta-studies.md", content=printed))
    for picture in sorted((STUDY / "delta").glob("*.png")):
        files.append(File.generated(config, f"images/studies/{picture.name}", abs_src_path=str(picture)))
    return files

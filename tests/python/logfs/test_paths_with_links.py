"""`..` behind a symbolic link leads to what lies above its target."""

from pathlib import Path

from logfs.logged import both, same

SCRIPT = """cd "$1" && mkdir -p runs/42 && ln -s runs/42 latest && ln -s 42 runs/same
echo top > f; echo run > runs/f
cat latest/../f "$1"/latest/.././f "$1"/../"${1##*/}"/latest//../f latest/../../f latest/../same/../f
echo new > latest/../g; ls . runs latest/..
mv latest/../g latest/../h && cat runs/h && rm latest/../h && ls runs
cat missing/../f; mv f missing/../g 2>/dev/null || ls; ls missing/../runs
cd latest && cat ../f ../../f ../../latest/../f
"""


def test_a_folder_above_a_link_is_that_of_its_target(tmp_path: Path) -> None:
    places = both(tmp_path)
    done = same(places, SCRIPT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("run\nrun\nrun\ntop\nrun\n")
    assert places[1].containers() == {"f", "runs/f"}

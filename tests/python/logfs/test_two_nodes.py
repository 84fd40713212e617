"""--stage: what programs and tools of one node make of what lies on the disk of another one."""

import json
import sys
from pathlib import Path

import pytest
from logfs.two_nodes import Node, two_nodes

CREATE = "os.O_CREAT | os.O_RDWR"
TEXT = b"a" * 1000 + b"b" * 1000 + bytes(3000) + b"c" * 10
TOOLS = """import json, sys
from halcyon.cli import main
for words in json.loads(sys.argv[1]):
    code = main(words)
    print(chr(0), code, chr(0), sep="", end="", flush=True)
    print(chr(0), end="", file=sys.stderr, flush=True)
"""


@pytest.fixture
def nodes(tmp_path: Path) -> tuple[Node, Node]:
    return two_nodes(tmp_path)


def tools(node: Node, *commands: list[object]) -> list[tuple[int, str, str]]:
    """`halcyon log …` on a node, one after the other: exit codes, and what each said."""
    words = [["log", *map(str, command)] for command in commands]
    done = node.run(sys.executable, "-c", TOOLS, json.dumps(words))
    assert done.returncode == 0, done.stderr
    said = done.stdout.split("\0")
    return list(zip(map(int, said[1::2]), said[0::2], done.stderr.split("\0"), strict=False))


def test_who_opened_it_before_or_while_data_are_brought_reads_no_holes(nodes: tuple[Node, Node]) -> None:
    one, two = nodes
    path = one.logs / "f"
    with one.talkers() as [writer], two.talkers(2) as [before, meanwhile]:
        written = writer.open(path, CREATE)
        read = before.open(path, "os.O_RDONLY")
        assert before.read(read, 10, 0) == b""
        writer.write(written, TEXT[:1000], 0)
        assert before.size(read) == 1000
        assert before.read(read, 1000, 0) == "ENODATA"
        assert "lie on node one, in " in before.complaints()
        assert "were not brought into the container yet" in before.complaints()
        assert writer.ask(f"os.fsync({written})") == "None"
        assert before.read(read, 2000, 0) == TEXT[:1000]
        writer.write(written, TEXT[1000:2000], 1000)
        writer.write(written, TEXT[5000:], 5000)
        for _ in range(2):  # and when an agent has looked, while the writer goes on
            assert before.size(read) == len(TEXT)
            assert before.read(read, 1000, 0) == TEXT[:1000]
            assert before.read(read, 3000, 2000) == bytes(3000), "nobody wrote there"
            for offset, length in ((1000, 1), (1999, 1), (900, 200), (4990, 20), (0, len(TEXT))):
                assert before.read(read, length, offset) == "ENODATA"
            [(code, _, said)] = tools(one, ["drain", "--no-wait", one.logs])
            assert code == 1
            assert "1 process of this node still writes" in said
        assert writer.ask(f"os.close({written})") == "None"
        late = meanwhile.open(path, "os.O_RDONLY")
        assert meanwhile.size(late) == len(TEXT)
        assert meanwhile.read(late, len(TEXT), 0) == "ENODATA"
        [(code, _, said)] = tools(one, ["drain", one.logs])
        assert code == 0, said
        for reader, fd in ((before, read), (meanwhile, late)):
            assert reader.read(fd, len(TEXT), 0) == TEXT
            assert reader.read(reader.open(path, "os.O_RDONLY"), len(TEXT), 0) == TEXT


def test_who_writes_and_cuts_there_leaves_no_holes_either(nodes: tuple[Node, Node]) -> None:
    one, two = nodes
    path = one.logs / "f"
    with one.talkers() as [first], two.talkers() as [second]:
        here = first.open(path, CREATE)
        first.write(here, b"a" * 1000, 0)
        there = second.open(path, "os.O_RDWR")
        second.write(there, b"X" * 500, 250)
        assert second.read(there, 500, 250) == b"X" * 500
        assert second.read(there, 1000, 0) == "ENODATA"
        assert first.size(here) == 1000
        assert first.read(here, 250, 0) == b"a" * 250
        assert first.read(here, 1000, 0) == "ENODATA"
        assert "lie on node two, in " in first.complaints()
        end = second.open(path, "os.O_WRONLY | os.O_APPEND")
        assert second.ask(f"os.write({end}, b'Y' * 100)") == "100"
        assert second.ask(f"os.fsync({there})") == "None"
        assert first.read(here, 2000, 0) == b"a" * 250 + b"X" * 500 + b"a" * 250 + b"Y" * 100
        # The end that is cut off does not come back, and what is left is on its node as before.
        assert second.ask(f"os.ftruncate({there}, 800)") == "None"
        assert second.ask(f"os.ftruncate({there}, 1200)") == "None"
        assert second.read(there, 400, 800) == bytes(400)
        assert second.read(there, 100, 750) == "ENODATA"
        assert first.size(here) == 1200
        assert first.read(here, 2000, 0) == b"a" * 250 + b"X" * 500 + b"a" * 50 + bytes(400)
        # With nothing of it left, nobody needs the other node.
        assert second.ask(f"os.truncate({str(path)!r}, 0)") == "None"
        second.write(there, b"new", 2)
        assert second.read(there, 10, 0) == b"\0\0new"
        assert first.size(here) == 5
    tools(one, ["drain", "--no-wait", one.logs])
    flat = two.disk / "flat"
    said = tools(two, ["drain", two.logs], ["check", "--json", path], ["flatten", path, "-o", flat])
    assert [code for code, _, _ in said] == [0, 0, 0], said
    assert json.loads(said[1][1])["size"] == 5
    assert flat.read_bytes() == b"\0\0new"


def test_tools_there_say_what_is_missing_and_change_nothing(nodes: tuple[Node, Node], tmp_path: Path) -> None:
    one, two = nodes
    path = one.logs / "f"
    with one.talkers() as [writer]:
        fd = writer.open(path, CREATE)
        writer.write(fd, TEXT[:1000], 0)
        assert writer.ask(f"os.fsync({fd})") == "None"
        writer.write(fd, TEXT[1000:2000], 1000)
        writer.write(fd, TEXT[5000:], 5000)
    flat = tmp_path / "flat"
    said = tools(
        two,
        ["check", "--json", path],
        ["stats", "--json", path],
        ["map", "--json", path],
        ["repair", "--json", path],
        ["flatten", path, "-o", flat],
        ["flatten", "--in-place", path],
        ["drain", "--no-wait", one.logs],
        ["drain", "--no-wait", "--flatten", one.logs],
    )
    assert [code for code, _, _ in said] == [0, 0, 0, 0, 1, 1, 1, 1]
    checked, figures = (json.loads(out) for _, out, _ in said[:2])
    [finding] = [each for each in checked["findings"] if "lies on node" in each["what"]]
    assert "lies on node one, in " in finding["what"]
    assert finding["concerns"] == "1010 B of it"
    assert (figures["durable_bytes"], figures["staged_bytes"], figures["staged_on"]) == (1000, 1010, ["one"])
    for _, _, why in said[4:6]:
        assert "lie on node one, in " in why
        assert "'halcyon log drain' there does that" in why
    for _, _, why in said[6:]:
        assert "data lie on one: an agent brings them" in why
    assert not flat.exists()
    assert path.is_dir()
    on_one = tools(one, ["drain", one.logs], ["flatten", path, "-o", flat])
    assert [code for code, _, _ in on_one] == [0, 0], on_one
    assert flat.read_bytes() == TEXT

"""A Damaris configuration becomes a halcyon.yaml that says the same, and a list of what it cannot say."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from halcyon.cli import main
from halcyon.errors import ConfigError
from halcyon.offload.damaris_xml import convert

ROOT = Path(__file__).resolve().parents[4]

# The structure of the first example of the Damaris literature: one Fortran array and one event with a plugin.
FIRST = """<?xml version="1.0"?>
<simulation name="example" language="fortran" xmlns="http://damaris.gforge.inria.fr/damaris/model">
  <architecture>
    <domains count="1"/>
    <dedicated cores="1"/>
    <buffer name="shared" size="67108864"/>
    <queue name="messages" size="100"/>
  </architecture>
  <data>
    <layout name="my_layout" type="real" dimensions="64,16,2"/>
    <group name="my_group">
      <variable name="my_variable" layout="my_layout"/>
    </group>
  </data>
  <actions>
    <event name="my_event" action="my_function" using="my_plugin.so"/>
  </actions>
</simulation>
"""

# Every element that has a counterpart, and some that have none.
FULL = """<simulation name="storm" language="c">
  <architecture>
    <domains count="2"/>
    <dedicated cores="2" nodes="0"/>
    <buffer name="shared" size="1048576"/>
  </architecture>
  <data>
    <parameter name="w" type="int" value="16"/>
    <parameter name="size" type="int" value="4"/>
    <parameter name="dx" type="double" value="0.5"/>
    <parameter name="title" type="string" value="a storm"/>
    <layout name="cells" type="double" dimensions="w/size + 3, w" global="w,w" ghosts="2:1,0:0"/>
    <layout name="line" type="float" dimensions="w+1"/>
    <layout name="plane" language="fortran" type="integer" dimensions="w, size*2"/>
    <layout name="words" type="string" dimensions="8"/>
    <layout name="power" type="int" dimensions="w^2"/>
    <mesh name="box" type="rectilinear" topology="2">
      <coord name="coord/x" unit="km" label="Width"/>
      <coord name="coord/y" unit="km"/>
    </mesh>
    <mesh name="refined" type="amr"><coord name="coord/x"/><coord name="coord/y"/></mesh>
    <group name="coord">
      <layout name="local" type="short" dimensions="3"/>
      <variable name="x" layout="line" visualizable="false" time-varying="false"/>
      <variable name="y" layout="line" visualizable="false" time-varying="false" unit="m"/>
      <group name="deep">
        <variable name="flags" layout="local" type="scalar"/>
      </group>
    </group>
    <variable name="theta" layout="cells" mesh="box" unit="K" centering="nodal" store="main" comment="heat"/>
    <variable name="wind" layout="cells" mesh="refined" type="vector" store="other"/>
    <variable name="names" layout="words"/>
    <variable name="old" layout="cells" enabled="false"/>
    <variable name="squared" layout="power"/>
    <variable name="map" layout="plane" script="draw.py"/>
    <curve name="profile"><coord name="coord/x"/><coord name="coord/y"/></curve>
  </data>
  <storage>
    <store name="main" type="HDF5">
      <option key="FileMode">Collective</option>
      <option key="XDMFMode">NoIteration</option>
      <option key="FilesPath">out/</option>
    </store>
    <store name="other" type="CGNS"/>
  </storage>
  <actions>
    <event name="stats" action="mean" library="libstats.so" scope="group"/>
    <event name="sync" action="mean" library="libother.so" scope="bcast"/>
    <event name="own" action="inside"/>
    <script name="plot" file="plot.py" language="python"/>
  </actions>
  <paraview update-frequency="1"><script>slice.py</script></paraview>
</simulation>
"""


def values(xml: str) -> dict[str, Any]:
    document = yaml.safe_load(convert(xml, "d.xml").yaml)
    assert isinstance(document, dict)
    return document


def notes(xml: str) -> list[str]:
    return [
        line.removeprefix("# not converted: ") for line in convert(xml, "d.xml").yaml.splitlines() if "# not" in line
    ]


def wrap(data: str, language: str = "c") -> str:
    return f'<simulation name="s" language="{language}">\n<data>\n{data}\n</data>\n</simulation>'


def refusal(xml: str) -> str:
    with pytest.raises(ConfigError) as raised:
        convert(xml, "d.xml")
    return str(raised.value)


def test_the_first_example_keeps_its_meaning() -> None:
    assert values(FIRST) == {
        "halcyon": 1,
        "simulation": "example",
        "data": {
            "layouts": {"my_layout": {"type": "float32", "dimensions": [2, 16, 64]}},
            "groups": {"my_group": {"variables": {"my_variable": {"layout": "my_layout", "visualizable": True}}}},
        },
        "events": {"my_event": {"actions": ["my_function"]}},
        "actions": {"my_function": {"type": "module", "module": "my_plugin.so", "function": "my_function"}},
        "resources": {"buffer": {"size": 67108864}},
    }
    assert notes(FIRST) == [
        'line 6: <buffer> name="shared"',
        'line 7: <queue name="messages" size="100">',
        "line 16: the code of 'my_function': my_plugin.so was built for Damaris; rewrite it for halcyon/action.h",
    ]


def test_namespace_and_prefix_make_no_difference() -> None:
    namespace = ' xmlns="http://damaris.gforge.inria.fr/damaris/model"'
    prefixed = FIRST.replace(namespace, namespace.replace("xmlns", "xmlns:d"))
    prefixed = prefixed.replace("</", "</d:").replace("<", "<d:").replace("<d:/d:", "</d:").replace("<d:?", "<?")
    assert "<d:simulation" in prefixed
    assert convert(prefixed, "d.xml") == convert(FIRST.replace(namespace, ""), "d.xml") == convert(FIRST, "d.xml")


def test_variables_keep_their_attributes() -> None:
    data = values(FULL)["data"]
    assert data["variables"]["theta"] == {
        "layout": "cells",
        "mesh": "box",
        "unit": "K",
        "description": "heat",
        "centering": "node",
        "visualizable": True,
        "blocks-per-client": 2,
        "store": "main",
    }
    assert data["groups"]["coord"]["variables"]["x"]["time-varying"] is False
    assert data["groups"]["coord"]["groups"]["deep"]["variables"]["flags"]["layout"] == "coord.local"
    assert data["curves"] == {"profile": {"x": "coord/x", "y": "coord/y"}}


def test_a_variable_without_store_stays_unstored() -> None:
    data = values(FULL)["data"]
    assert data["variables"]["map"]["store"] is False
    assert data["variables"]["wind"]["store"] is False


def test_what_a_mesh_consists_of_is_stored_where_a_variable_on_it_is() -> None:
    coordinates = values(FULL)["data"]["groups"]["coord"]["variables"]
    assert (coordinates["x"]["store"], coordinates["y"]["store"]) == ("main", "main")
    told = "line 24: variable 'coord/x' has no store; now 'main', where a variable on mesh 'box' is"
    assert told in notes(FULL)
    unstored = values(FULL.replace(' store="main"', ""))["data"]["groups"]["coord"]["variables"]
    assert unstored["x"]["store"] is False


def test_a_mesh_hands_units_and_labels_to_its_coordinates() -> None:
    data = values(FULL)["data"]
    coordinates = data["groups"]["coord"]["variables"]
    assert (coordinates["x"]["unit"], coordinates["x"]["description"]) == ("km", "Width")
    assert coordinates["y"]["unit"] == "m"
    assert data["meshes"] == {"box": {"type": "rectilinear", "coordinates": ["coord/x", "coord/y"]}}


def test_fortran_order_is_reversed_per_layout_or_for_all() -> None:
    assert values(FULL)["data"]["layouts"]["plane"]["dimensions"] == ["size_*2", "w"]
    mesh = (
        '<layout name="l" type="int" dimensions="2"/><variable name="x" layout="l"/><variable name="y" layout="l"/>'
        '<mesh name="m" type="curvilinear"><coord name="x"/><coord name="y"/></mesh>'
    )
    assert values(wrap(mesh, "fortran"))["data"]["meshes"]["m"]["coordinates"] == ["y", "x"]
    assert values(wrap(mesh))["data"]["meshes"]["m"]["coordinates"] == ["x", "y"]


@pytest.mark.parametrize(
    ("damaris", "halcyon"),
    [("real", "float32"), ("float", "float32"), ("double", "float64"), ("int", "int32"), ("integer", "int32"),
     ("long", "int64"), ("short", "int16"), ("char", "int8")],
)  # fmt: skip
def test_types_are_translated(damaris: str, halcyon: str) -> None:
    layouts = values(wrap(f'<layout name="l" type="{damaris}" dimensions="1"/>'))["data"]["layouts"]
    assert layouts["l"]["type"] == halcyon


def test_parameters_that_expressions_cannot_name_are_renamed_everywhere() -> None:
    document = values(FULL)
    assert document["parameters"] == {"w": 16, "size_": 4, "dx": 0.5}
    assert document["data"]["layouts"]["cells"]["dimensions"] == ["w/size_ + 3", "w"]


def test_resources_stores_and_scopes_are_translated() -> None:
    document = values(FULL)
    assert document["resources"] == {"servers-per-node": 2, "buffer": {"size": 1048576}}
    assert document["stores"] == {"main": {"type": "hdf5", "path": "out/", "collective": True}}
    assert document["events"] == {
        "stats": {"actions": ["mean"], "scope": "node"},
        "sync": {"actions": ["mean_"], "scope": "job"},
    }


def test_no_dedicated_resources_means_inline() -> None:
    xml = '<simulation name="s"><architecture><dedicated cores="0"/></architecture></simulation>'
    assert values(xml)["inline"] is True


def test_unstructured_meshes_name_their_cells() -> None:
    parts = ["xyz", "types", "sizes", "links"]
    data = '<layout name="l" type="long" dimensions="9"/><group name="g">'
    data += "".join(f'<variable name="{part}" layout="l"/>' for part in parts)
    data += (
        '<mesh name="m" type="unstructured" topology="3"><coord name="g/xyz"/><vertex_global_id name="g/xyz"/>'
        '<section_types name="g/types"/><section_sizes name="g/sizes"/><section_connectivity name="g/links"/></mesh>'
        '<variable name="p" layout="l" mesh="m"/></group>'
    )
    document = values(wrap(data))
    assert document["data"]["meshes"]["g.m"] == {
        "type": "unstructured",
        "coordinates": ["g/xyz"],
        "cells": "g/links",
        "cell-types": "g/types",
        "cell-sizes": "g/sizes",
    }
    assert document["data"]["groups"]["g"]["variables"]["p"]["mesh"] == "g.m"
    assert notes(wrap(data)) == ['line 3: <vertex_global_id name="g/xyz">']


def test_what_has_no_counterpart_is_listed_with_its_line() -> None:
    assert notes(FULL) == [
        'line 5: <buffer> name="shared"',
        "line 7: parameters that the program changes after the start need `mutable: true` and `max`",
        "line 9: parameter 'size' is now 'size_', because expressions cannot use its name",
        "line 11: parameter 'title' of type string: its value 'a storm' is not a number",
        (
            "line 12: layout 'cells': its place in the whole, because the program sets positions "
            "(damaris_set_position); complete and name it in the variables: "
            "places: cells: {global: [w, w], offset: […], ghost: [[2, 1], [0, 0]]}"
        ),
        (
            "line 15: layout 'words': type string; expected one of short, int, integer, long, float, real, double, "
            "char, character"
        ),
        "line 16: layout 'power': dimensions w^2",
        "line 19: 'box': unit 'km' of 'coord/y', which has another",
        "line 21: mesh 'refined': type amr; expected one of rectilinear, curvilinear, unstructured, point",
        "line 24: variable 'coord/x' has no store; now 'main', where a variable on mesh 'box' is",
        "line 25: variable 'coord/y' has no store; now 'main', where a variable on mesh 'box' is",
        "line 31: variable 'wind': store other, which was not converted",
        "line 31: variable 'wind': type vector; expected scalar",
        "line 32: variable 'names', because its layout 'words' was not",
        "line 33: variable 'old' is not enabled",
        "line 34: variable 'squared', because its layout 'power' was not",
        'line 35: <variable name="map"> script="draw.py"',
        "line 41: store 'main': option XDMFMode NoIteration",
        "line 44: store 'other': type CGNS; expected HDF5",
        "line 47: the code of 'mean': libstats.so was built for Damaris; rewrite it for halcyon/action.h",
        "line 48: the code of 'mean': libother.so was built for Damaris; rewrite it for halcyon/action.h",
        "line 49: event 'own': function 'inside' of the simulation itself",
        'line 50: <script name="plot" file="plot.py" language="python">',
        'line 52: <paraview update-frequency="1">',
    ]


def test_nothing_in_the_file_goes_unmentioned() -> None:
    coordinate = '<coord name="coord/x" unit'
    odd = FULL.replace("<data>", '<data flavour="mint">').replace(coordinate, "<odd/>" + coordinate)
    result = convert(odd, "d.xml").yaml
    assert 'line 7: <data> flavour="mint"' in result
    assert "line 18: <odd>" in result


def test_a_note_cannot_leave_its_comment() -> None:
    text = convert(wrap('<oops a="x&#10;simulation: evil"/>'), "d\n.xml").yaml
    assert "\nsimulation: evil" not in text
    assert yaml.safe_load(text)["simulation"] == "s"


def test_mistakes_are_reported_with_file_and_line() -> None:
    assert refusal("<simulation>\n<data>\n</simulation>") == "d.xml:3: not XML: mismatched tag"
    assert refusal("") == "d.xml:1: not XML: no element found"
    assert refusal("<html/>") == "d.xml:1: <html> is not a Damaris configuration; expected <simulation>"
    assert refusal("<simulation/>") == "d.xml:1: <simulation> has no name"
    assert refusal(wrap('<layout type="int" dimensions="1"/>')) == "d.xml:3: <layout> has no name"
    assert (
        refusal(wrap('<layout name="a" type="int" dimensions="1"/>\n<variable name="v" layout="b"/>'))
        == "d.xml:4: variable 'v': no layout 'b'; known layouts: a"
    )
    bomb = '<!DOCTYPE s [\n<!ENTITY a "aaaa">]>' + wrap("")
    assert refusal(bomb) == "d.xml:2: entity declarations are not accepted"


@pytest.mark.parametrize(
    ("data", "loss"),
    [
        ('<layout name="l" type="quad" dimensions="1"/>', "layout 'l': type quad; expected one of short, int"),
        ('<mesh name="m" type="amr"><coord name="x"/></mesh>', "mesh 'm': type amr; expected one of rectilinear"),
        ('<mesh name="m" type="point"><coord name="x"/></mesh>', "'m': there is no variable 'x'"),
        (
            '</data><storage><store name="old" type="CGNS"/></storage><data>',
            "store 'old': type CGNS; expected HDF5",
        ),
    ],
)
def test_what_would_lose_data_is_an_exit_code(
    data: str, loss: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "d.xml"
    path.write_text(wrap(data))
    assert main(["convert", str(path)]) == 1
    said = capsys.readouterr()
    assert f"halcyon: not converted: {path}:3: {loss}" in said.err
    assert yaml.safe_load(said.out)["simulation"] == "s"


def test_a_store_that_is_nowhere_is_refused() -> None:
    variable = '<layout name="l" type="int" dimensions="1"/>\n<variable name="v" layout="l" store="man"/>'
    assert refusal(wrap(variable)) == "d.xml:4: variable 'v': no store 'man'; known stores: none"


def test_a_global_event_is_refused_because_nothing_waits_for_all_processes() -> None:
    event = '<event name="e" action="f" library="l.so" scope="global"/>'
    xml = f'<simulation name="s"><actions>\n{event}</actions></simulation>'
    assert refusal(xml).startswith("d.xml:2: event 'e': scope 'global' runs when every process")


@pytest.mark.parametrize("xml", [FIRST, FULL], ids=["first", "full"])
def test_the_result_fits_the_schema(xml: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "schema/halcyon.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft4Validator(schema).validate(values(xml))


@pytest.mark.parametrize("xml", [FIRST, FULL], ids=["first", "full"])
def test_the_result_is_accepted_by_the_library(xml: str, tmp_path: Path) -> None:
    programs = sorted((ROOT / "build").glob("*/bin/halcyon-check"))
    if not programs:
        pytest.skip("halcyon-check is not built")
    path = tmp_path / "halcyon.yaml"
    path.write_text(convert(xml, "d.xml").yaml, encoding="utf-8")
    done = subprocess.run([programs[0], path], capture_output=True, text=True, check=False)
    # Modules that were built for Damaris are not here, and would be refused; the converter says so, too.
    refused = [line for line in done.stderr.splitlines() if not line.startswith("halcyon: warning: no 'stores:'")]
    assert [line for line in refused if ".module: " not in line] == []
    assert done.returncode == (1 if refused else 0)
    assert done.stdout.count("\n") == (1 if refused else 2), "the line that sums it up, and OK"


def test_the_verb_prints_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "d.xml"
    path.write_text(FIRST, encoding="utf-8")
    assert main(["convert", str(path)]) == 0
    assert capsys.readouterr().out == convert(FIRST, str(path)).yaml
    assert main(["convert", str(tmp_path / "missing.xml")]) == 1
    assert capsys.readouterr().err == f"halcyon: {tmp_path}/missing.xml: No such file or directory\n"

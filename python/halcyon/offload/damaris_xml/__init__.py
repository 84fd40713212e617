"""Turns a Damaris XML configuration into halcyon.yaml.

Whatever has no counterpart is listed in comments at the top of the result, with its line in the XML.
"""

import re
from dataclasses import dataclass

from halcyon.offload.damaris_xml.actions import read_actions
from halcyon.offload.damaris_xml.architecture import read_architecture
from halcyon.offload.damaris_xml.conversion import Conversion, Yaml, in_groups
from halcyon.offload.damaris_xml.layouts import add_layout
from halcyon.offload.damaris_xml.meshes import curve_entries, mesh_entries
from halcyon.offload.damaris_xml.parameters import read_parameters
from halcyon.offload.damaris_xml.stores import read_stores
from halcyon.offload.damaris_xml.variables import members
from halcyon.offload.damaris_xml.xml_elements import Element, parse
from halcyon.offload.damaris_xml.yaml_text import write


@dataclass(frozen=True)
class Converted:
    """What became of a Damaris configuration."""

    yaml: str
    losses: list[str]
    """Stores, meshes and types, as `file:line: …`, that Halcyon does not have; the result lacks them."""


def convert(xml_text: str, file_name: str) -> Converted:
    """ConfigError, as `file:line: …`: not XML, not Damaris, a name missing or referred to in vain, a `global` event."""
    c = Conversion(parse(xml_text, file_name), file_name)
    text = _convert(c)
    return Converted(text, [f"{file_name}:{line}: {what}" for line, what in sorted(c.losses)])


def _convert(c: Conversion) -> str:
    root = c.root
    if root.tag != "simulation":
        raise c.fail(root, f"<{root.tag}> is not a Damaris configuration; expected <simulation>")
    root.is_read = True
    c.language = root.take("language", "unknown")
    out: Yaml = {"halcyon": 1, "simulation": _simulation_name(c)}
    resources = read_architecture(c, out)
    data = root.first("data")
    parameters = read_parameters(c, data)
    read_stores(c)
    converted = _data(c, data) if data is not None else {}
    actions, events = read_actions(c)
    sections: Yaml = {
        "parameters": parameters,
        "data": {key: value for key, value in converted.items() if value},
        "events": events,
        "actions": actions,
        "stores": c.stores,
        "resources": resources,
    }
    out |= {key: value for key, value in sections.items() if value}
    return _header(c) + write(out)


def _data(c: Conversion, data: Element) -> Yaml:
    for prefix, layout in in_groups(c, data, "", "layout"):
        add_layout(c, prefix, layout)
    for prefix, mesh in in_groups(c, data, "", "mesh"):
        c.meshes[prefix + c.name_of(mesh)] = mesh
    variables: Yaml = {}
    groups: Yaml = {}
    members(c, data, "", variables, groups)
    return {
        "layouts": c.layouts,
        "meshes": dict(mesh_entries(c)),
        "curves": dict(curve_entries(c, data)),
        "variables": variables,
        "groups": groups,
    }


def _header(c: Conversion) -> str:
    lines = [f"Converted from {c.file_name}, a Damaris configuration."]
    lines += [f"not converted: line {line}: {what}" for line, what in sorted([*c.notes, *c.root.unread()])]
    return "".join(f"# {' '.join(line.split())}\n" for line in lines)


def _simulation_name(c: Conversion) -> str:
    name = c.name_of(c.root)
    fitting = re.sub(r"[/\x00-\x1f\x7f]", "_", name).lstrip(".") or "simulation"
    if fitting != name:
        c.note(c.root, f"the simulation's name '{name}' cannot begin file names; it is now '{fitting}'")
    return fitting

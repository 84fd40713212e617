"""Meshes and curves, which refer to variables."""

from collections.abc import Iterator

from halcyon.offload.damaris_xml.conversion import NONE, Conversion, Yaml, flat, in_groups
from halcyon.offload.damaris_xml.xml_elements import Element
from halcyon.offload.damaris_xml.yaml_text import Value

MESH_TYPES = {"rectilinear": "rectilinear", "curvilinear": "curvilinear", "unstructured": "unstructured"} | {
    "point": "points"
}
CELL_KEYS = {"cells": "section_connectivity", "cell-types": "section_types", "cell-sizes": "section_sizes"}


def mesh_entries(c: Conversion) -> Iterator[tuple[str, Value]]:
    for full_name, mesh in c.meshes.items():
        entry = mesh_entry(c, full_name, mesh)
        if entry is not None:
            store_beside(c, flat(full_name), entry)
            yield flat(full_name), entry
            continue
        for _, variable in c.variables.values():
            if variable.get("mesh") == flat(full_name):
                del variable["mesh"]


def store_beside(c: Conversion, mesh: str, entry: Yaml) -> None:
    """Stores what a mesh consists of where a variable on it is stored: without, files cannot be drawn. Damaris' plugins
    draw from memory, so its configurations often give it no store."""
    stores = [
        variable["store"]
        for _, variable in c.variables.values()
        if variable.get("mesh") == mesh and variable.get("store")
    ]
    if not stores:
        return
    coordinates = entry["coordinates"]
    assert isinstance(coordinates, list)
    for name in [*coordinates, *(entry[key] for key in CELL_KEYS if key in entry)]:
        element, variable = c.variables[name]
        if variable.get("store") is False:
            variable["store"] = stores[0]
            c.note(element, f"variable '{name}' has no store; now '{stores[0]}', where a variable on mesh '{mesh}' is")


def mesh_entry(c: Conversion, full_name: str, mesh: Element) -> Yaml | None:
    kind = mesh.take("type", "unknown")
    topology = mesh.take("topology")
    coordinates = [name for name in (coordinate(c, full_name, at) for at in mesh.each("coord")) if name]
    if kind not in MESH_TYPES or len(coordinates) < sum(child.tag == "coord" for child in mesh.children):
        mesh.ignore()
        unknown = f": type {kind}; expected one of {', '.join(MESH_TYPES)}" if kind not in MESH_TYPES else ""
        c.lose(mesh, f"mesh '{full_name}'{unknown}")
        return None
    if not coordinates:
        raise c.fail(mesh, f"mesh '{full_name}' has no <coord>")
    if c.language.lower() == "fortran":
        coordinates.reverse()
    out: Yaml = {"type": MESH_TYPES[kind], "coordinates": list(coordinates)}
    if kind == "unstructured":
        for key, tag in CELL_KEYS.items():
            section = mesh.first(tag)
            found = coordinate(c, full_name, section) if section is not None else None
            if found is not None:
                out[key] = found
        if "cells" not in out or "cell-types" not in out:
            mesh.ignore()
            c.lose(mesh, f"mesh '{full_name}': it lacks section_connectivity or section_types")
            return None
    if kind in ("rectilinear", "curvilinear") and topology not in ("", str(len(coordinates))):
        c.note(mesh, f"mesh '{full_name}': topology {topology}")
    return out


def coordinate(c: Conversion, mesh_name: str, coord: Element) -> str | None:
    """Full name of the variable, which gets the unit and label given here; None, and a note, when there is none."""
    name = c.name_of(coord)
    prefix = mesh_name.rpartition("/")[0]
    found = find_variable(c, prefix + "/" if prefix else "", name)
    if found is None:
        c.lose(coord, f"'{mesh_name}': there is no variable '{name}'")
        return None
    _, variable = c.variables[found]
    for attribute, key in (("unit", "unit"), ("label", "description")):
        value = coord.take(attribute)
        if value in NONE:
            continue
        if variable.setdefault(key, value) != value:
            c.note(coord, f"'{mesh_name}': {attribute} '{value}' of '{name}', which has another")
    return found


def find_variable(c: Conversion, prefix: str, name: str) -> str | None:
    while prefix and prefix + name not in c.variables:
        prefix = prefix[:-1].rpartition("/")[0]
        prefix += "/" if prefix else ""
    return prefix + name if prefix + name in c.variables else None


def curve_entries(c: Conversion, data: Element) -> Iterator[tuple[str, Value]]:
    for prefix, curve in in_groups(c, data, "", "curve"):
        name = prefix + c.name_of(curve)
        coordinates = [coordinate(c, name, coord) for coord in curve.each("coord")]
        if len(coordinates) != 2:
            raise c.fail(curve, f"curve '{name}' has {len(coordinates)} <coord>; expected 2")
        x, y = coordinates
        if x is None or y is None:
            c.note(curve, f"curve '{name}'")
        else:
            yield flat(name), {"x": x, "y": y}

"""Turns a Damaris XML configuration into halcyon.yaml.

Whatever has no counterpart is listed in comments at the top of the result, with its line in the XML.
"""

import re
from collections.abc import Iterator

from halcyon.errors import ConfigError
from halcyon.xml_elements import Element, parse
from halcyon.yaml_text import Value, write

Yaml = dict[str, Value]

TYPES = {
    "short": "int16", "int": "int32", "integer": "int32", "long": "int64", "float": "float32", "real": "float32",
    "double": "float64", "char": "int8", "character": "int8",
}  # fmt: skip
MESH_TYPES = {"rectilinear": "rectilinear", "curvilinear": "curvilinear", "unstructured": "unstructured"} | {
    "point": "points"
}
CENTERINGS = {"nodal": "node", "zonal": "cell"}
SCOPES = {"core": "client", "group": "node", "bcast": "job", "global": "job"}
RESERVED = {"rank", "size", "block", "min", "max", "ceil"}
NONE = ("", "#")  # how Damaris says that an attribute is not given

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EXPRESSION = re.compile(r"[A-Za-z0-9_+\-*/%(). ]+")


def convert(xml_text: str, file_name: str) -> str:
    """The YAML text. ConfigError, as `file:line: …`: not XML, not Damaris, a name missing or referred to in vain."""
    return _Converter(parse(xml_text, file_name), file_name).run()


class _Converter:
    def __init__(self, root: Element, file_name: str) -> None:
        self.root = root
        self.file_name = file_name
        self.notes: list[tuple[int, str]] = []
        self.renamed: dict[str, str] = {}
        self.layouts: Yaml = {}
        self.lost_layouts: set[str] = set()
        self.meshes: dict[str, Element] = {}
        self.variables: dict[str, tuple[Element, Yaml]] = {}
        self.data: Yaml = {}
        self.stores: Yaml = {}
        self.blocks_per_client = 1

    def fail(self, element: Element, message: str) -> ConfigError:
        return ConfigError(f"{self.file_name}:{element.line}: {message}")

    def note(self, element: Element, message: str) -> None:
        self.notes.append((element.line, message))

    def name_of(self, element: Element) -> str:
        name = element.take("name")
        if not name:
            raise self.fail(element, f"<{element.tag}> has no name")
        return name

    def run(self) -> str:
        root = self.root
        if root.tag != "simulation":
            raise self.fail(root, f"<{root.tag}> is not a Damaris configuration; expected <simulation>")
        root.is_read = True
        self.language = root.take("language", "unknown")
        out: Yaml = {"halcyon": 1, "simulation": self.simulation_name()}
        resources = self.architecture(out)
        data = root.first("data")
        parameters = self.parameters(data)
        self.read_stores()
        if data is not None:
            self.read_data(data)
        actions, events = self.actions()
        sections: Yaml = {
            "parameters": parameters,
            "data": {key: value for key, value in self.data.items() if value},
            "events": events,
            "actions": actions,
            "stores": self.stores,
            "resources": resources,
        }
        out |= {key: value for key, value in sections.items() if value}
        return self.header() + write(out)

    def header(self) -> str:
        lines = [f"Converted from {self.file_name}, a Damaris configuration."]
        lines += [f"not converted: line {line}: {what}" for line, what in sorted([*self.notes, *self.root.unread()])]
        return "".join(f"# {' '.join(line.split())}\n" for line in lines)

    def simulation_name(self) -> str:
        name = self.name_of(self.root)
        fitting = re.sub(r"[/\x00-\x1f\x7f]", "_", name).lstrip(".") or "simulation"
        if fitting != name:
            self.note(self.root, f"the simulation's name '{name}' cannot begin file names; it is now '{fitting}'")
        return fitting

    # ---- <architecture> ----------------------------------------------------------------------------------------

    def architecture(self, out: Yaml) -> Yaml:
        resources: Yaml = {}
        architecture = self.root.first("architecture")
        if architecture is None:
            return resources
        for domains in architecture.each("domains"):
            self.blocks_per_client = self.count(domains, "count", 1)
        for dedicated in architecture.each("dedicated"):
            cores = self.count(dedicated, "cores", 0)
            nodes = self.count(dedicated, "nodes", 0)
            if nodes:
                self.note(dedicated, f'<dedicated nodes="{nodes}">: Halcyon dedicates cores of every node')
            if cores == 0 and nodes == 0:
                out["inline"] = True
            elif cores > 1:
                resources["servers-per-node"] = cores
        for buffer in architecture.each("buffer"):
            resources["buffer"] = {"size": self.count(buffer, "size", 0)}
        return resources

    def count(self, element: Element, attribute: str, default: int) -> int:
        text = element.take(attribute, str(default))
        if not text.isdecimal():
            raise self.fail(element, f"<{element.tag}> {attribute}: '{text}' is not a whole number")
        return int(text)

    # ---- <data>: parameters and expressions --------------------------------------------------------------------

    def parameters(self, data: Element | None) -> Yaml:
        out: Yaml = {}
        for parameter in data.each("parameter") if data is not None else ():
            name = self.name_of(parameter)
            kind, value = parameter.take("type"), parameter.take("value")
            number = _number(value)
            if number is None:
                self.note(parameter, f"parameter '{name}' of type {kind}: its value '{value}' is not a number")
                continue
            fitting = name if _NAME.fullmatch(name) and name not in RESERVED else re.sub(r"\W", "_", name) + "_"
            if fitting != name:
                self.renamed[name] = fitting
                self.note(parameter, f"parameter '{name}' is now '{fitting}', because expressions cannot use its name")
            out[fitting] = number
        if out and data is not None:
            self.note(data, "parameters that the program changes after the start need `mutable: true` and `max`")
        return out

    def expressions(self, text: str) -> list[Value] | None:
        """A comma-separated list in C order; None when something in it has no counterpart."""
        out: list[Value] = []
        for part in (part.strip() for part in text.split(",")):
            if part.isdecimal():
                out.append(int(part))
            elif _EXPRESSION.fullmatch(part):
                out.append(_NAME.sub(lambda name: self.renamed.get(name[0], name[0]), part))
            else:
                return None
        return out

    # ---- <data>: layouts ---------------------------------------------------------------------------------------

    def read_data(self, data: Element) -> None:
        for prefix, layout in self.in_groups(data, "", "layout"):
            self.layout(prefix, layout)
        for prefix, mesh in self.in_groups(data, "", "mesh"):
            self.meshes[prefix + self.name_of(mesh)] = mesh
        variables: Yaml = {}
        groups: Yaml = {}
        self.members(data, "", variables, groups)
        self.data = {
            "layouts": self.layouts,
            "meshes": dict(self.mesh_entries()),
            "curves": dict(self.curve_entries(data)),
            "variables": variables,
            "groups": groups,
        }

    def in_groups(self, parent: Element, prefix: str, tag: str) -> Iterator[tuple[str, Element]]:
        """The elements of this tag in the group and all groups inside it, each with its group's prefix."""
        for element in parent.each(tag):
            yield prefix, element
        for group in parent.each("group"):
            if group.take("enabled", "true") != "false":
                yield from self.in_groups(group, prefix + self.name_of(group) + "/", tag)

    def layout(self, prefix: str, layout: Element) -> None:
        name = prefix + self.name_of(layout)
        kind = layout.take("type").lower()
        reversed_order = layout.take("language", self.language).lower() == "fortran"
        lists = {
            "dimensions": layout.take("dimensions"),
            "global": layout.take("global"),
            "ghosts": layout.take("ghosts") or layout.take("ghost"),
        }
        dimensions = self.expressions(lists["dimensions"])
        if kind not in TYPES or dimensions is None:
            what = f"type {kind}" if kind not in TYPES else f"dimensions {lists['dimensions']}"
            self.note(layout, f"layout '{name}': {what}")
            self.lost_layouts.add(name)
            return
        if reversed_order:
            dimensions.reverse()
        self.layouts[_flat(name)] = {"type": TYPES[kind], "dimensions": dimensions}
        self.note_place(layout, name, lists, reversed_order)

    def note_place(self, layout: Element, name: str, lists: dict[str, str], reversed_order: bool) -> None:
        """Damaris learns a block's position from the program, so a place cannot be complete; what is known is said."""
        whole = self.expressions(lists["global"]) if lists["global"] else None
        ghosts = [_ghost(part) for part in lists["ghosts"].split(",")] if lists["ghosts"] else []
        has_ghosts = any(ghost != "[0, 0]" for ghost in ghosts)
        if reversed_order:
            ghosts.reverse()
            if whole:
                whole.reverse()
        if lists["global"] and whole is None:
            self.note(layout, f"layout '{name}': global {lists['global']}")
        if not has_ghosts and (whole is None or lists["global"] == lists["dimensions"]):
            return
        known = f"global: [{', '.join(str(n) for n in whole)}], " if whole else "global: […], "
        ghost = f", ghost: [{', '.join(ghosts)}]" if has_ghosts else ""
        self.note(
            layout,
            f"layout '{name}': its place in the whole, because the program sets positions (damaris_set_position); "
            f"complete and name it in the variables: places: {_flat(name)}: {{{known}offset: […]{ghost}}}",
        )

    # ---- <data>: variables -------------------------------------------------------------------------------------

    def members(self, parent: Element, prefix: str, variables: Yaml, groups: Yaml) -> None:
        for variable in parent.each("variable"):
            name = self.name_of(variable)
            entry = self.variable(prefix, name, variable)
            if entry is not None:
                variables[name.replace("/", "_")] = entry
                self.variables[prefix + name] = (variable, entry)
        for group in parent.each("group"):
            name = self.name_of(group)
            if group.take("enabled", "true") == "false":
                group.ignore()
                self.note(group, f"group '{prefix}{name}' is not enabled")
                continue
            own_variables: Yaml = {}
            own_groups: Yaml = {}
            self.members(group, prefix + name + "/", own_variables, own_groups)
            groups[name] = {
                key: value for key, value in (("variables", own_variables), ("groups", own_groups)) if value
            }

    def variable(self, prefix: str, name: str, variable: Element) -> Yaml | None:
        full_name = prefix + name
        if variable.take("enabled", "true") == "false":
            variable.ignore()
            self.note(variable, f"variable '{full_name}' is not enabled")
            return None
        layout_name = variable.take("layout")
        layout = self.look_up(prefix, layout_name, {*map(_flat, self.lost_layouts), *self.layouts})
        if layout is None:
            known = ", ".join(sorted(self.layouts)) or "none"
            raise self.fail(variable, f"variable '{full_name}': no layout '{layout_name}'; known layouts: {known}")
        if layout not in self.layouts:
            variable.ignore()
            self.note(variable, f"variable '{full_name}', because its layout '{layout_name}' was not")
            return None
        if "/" in name:
            self.note(variable, f"variable '{full_name}' is now '{prefix}{name.replace('/', '_')}'")
        out: Yaml = {"layout": layout}
        mesh = variable.take("mesh")
        if mesh not in NONE:
            found = self.look_up(prefix, mesh, {_flat(known) for known in self.meshes})
            if found is None:
                raise self.fail(variable, f"variable '{full_name}': no mesh '{mesh}'")
            out["mesh"] = found
        if (unit := variable.take("unit")) not in NONE:
            out["unit"] = unit
        if comment := variable.take("comment"):
            out["description"] = comment
        centering = variable.take("centering", "zonal")
        if CENTERINGS.get(centering) == "node":
            out["centering"] = "node"
        elif centering not in CENTERINGS:
            self.note(variable, f"variable '{full_name}': centering {centering}")
        if variable.take("visualizable", "true") != "false":
            out["visualizable"] = True
        if variable.take("time-varying", "true") == "false":
            out["time-varying"] = False
        if (kind := variable.take("type", "scalar")) != "scalar":
            self.note(variable, f"variable '{full_name}': type {kind}")
        if self.blocks_per_client != 1:
            out["blocks-per-client"] = self.blocks_per_client
        self.choose_store(full_name, variable, out)
        return out

    def choose_store(self, full_name: str, variable: Element, out: Yaml) -> None:
        """In Damaris a variable without store is not stored; Halcyon's default is the only store."""
        store = variable.take("store")
        if store in self.stores:
            out["store"] = store
            return
        if store not in NONE:
            self.note(variable, f"variable '{full_name}': store {store}, which was not converted")
        if self.stores:
            out["store"] = False

    @staticmethod
    def look_up(prefix: str, name: str, known: set[str]) -> str | None:
        """The flat name of what `name` means inside a group: there, in the groups around it, or at the top."""
        while True:
            if _flat(prefix + name) in known:
                return _flat(prefix + name)
            if not prefix:
                return None
            prefix = prefix[:-1].rpartition("/")[0]
            prefix += "/" if prefix else ""

    # ---- <data>: meshes and curves -----------------------------------------------------------------------------

    def mesh_entries(self) -> Iterator[tuple[str, Value]]:
        for full_name, mesh in self.meshes.items():
            entry = self.mesh(full_name, mesh)
            if entry is not None:
                yield _flat(full_name), entry
                continue
            for _, variable in self.variables.values():
                if variable.get("mesh") == _flat(full_name):
                    del variable["mesh"]

    def mesh(self, full_name: str, mesh: Element) -> Yaml | None:
        kind = mesh.take("type", "unknown")
        topology = mesh.take("topology")
        coordinates = [name for name in (self.coordinate(full_name, c) for c in mesh.each("coord")) if name]
        if kind not in MESH_TYPES or len(coordinates) < sum(child.tag == "coord" for child in mesh.children):
            mesh.ignore()
            self.note(mesh, f"mesh '{full_name}'" + (f": type {kind}" if kind not in MESH_TYPES else ""))
            return None
        if not coordinates:
            raise self.fail(mesh, f"mesh '{full_name}' has no <coord>")
        if self.language.lower() == "fortran":
            coordinates.reverse()
        out: Yaml = {"type": MESH_TYPES[kind], "coordinates": list(coordinates)}
        if kind == "unstructured":
            for tag, key in (
                ("section_connectivity", "cells"),
                ("section_types", "cell-types"),
                ("section_sizes", "cell-sizes"),
            ):
                section = mesh.first(tag)
                found = self.coordinate(full_name, section) if section is not None else None
                if found is not None:
                    out[key] = found
            if "cells" not in out or "cell-types" not in out:
                mesh.ignore()
                self.note(mesh, f"mesh '{full_name}': it lacks section_connectivity or section_types")
                return None
        if kind in ("rectilinear", "curvilinear") and topology not in ("", str(len(coordinates))):
            self.note(mesh, f"mesh '{full_name}': topology {topology}")
        return out

    def coordinate(self, mesh_name: str, coord: Element) -> str | None:
        """Full name of the variable, which gets the unit and label given here; None, and a note, when there is none."""
        name = self.name_of(coord)
        prefix = mesh_name.rpartition("/")[0]
        found = self.find_variable(prefix + "/" if prefix else "", name)
        if found is None:
            self.note(coord, f"'{mesh_name}': there is no variable '{name}'")
            return None
        _, variable = self.variables[found]
        for attribute, key in (("unit", "unit"), ("label", "description")):
            value = coord.take(attribute)
            if value in NONE:
                continue
            if variable.setdefault(key, value) != value:
                self.note(coord, f"'{mesh_name}': {attribute} '{value}' of '{name}', which has another")
        return found

    def find_variable(self, prefix: str, name: str) -> str | None:
        while prefix and prefix + name not in self.variables:
            prefix = prefix[:-1].rpartition("/")[0]
            prefix += "/" if prefix else ""
        return prefix + name if prefix + name in self.variables else None

    def curve_entries(self, data: Element) -> Iterator[tuple[str, Value]]:
        for prefix, curve in self.in_groups(data, "", "curve"):
            name = prefix + self.name_of(curve)
            coordinates = [self.coordinate(name, coord) for coord in curve.each("coord")]
            if len(coordinates) != 2:
                raise self.fail(curve, f"curve '{name}' has {len(coordinates)} <coord>; expected 2")
            x, y = coordinates
            if x is None or y is None:
                self.note(curve, f"curve '{name}'")
            else:
                yield _flat(name), {"x": x, "y": y}

    # ---- <storage> and <actions> -------------------------------------------------------------------------------

    def read_stores(self) -> None:
        for storage in self.root.each("storage"):
            for store in storage.each("store"):
                name = self.name_of(store)
                kind = store.take("type")
                if kind.lower() != "hdf5":
                    store.ignore()
                    self.note(store, f"store '{name}': type {kind}")
                    continue
                self.stores[name] = self.store(name, store)

    def store(self, name: str, store: Element) -> Yaml:
        out: Yaml = {"type": "hdf5", "path": "."}
        for option in store.each("option"):
            key, value = option.take("key"), option.text.strip()
            if key == "FilesPath":
                out["path"] = value or "."
            elif key == "FileMode" and value == "Collective":
                out["collective"] = True
            elif not (key == "FileMode" and value == "FilePerNode"):
                self.note(option, f"store '{name}': option {key} {value}")
        return out

    def actions(self) -> tuple[Yaml, Yaml]:
        actions: Yaml = {}
        events: Yaml = {}
        for section in self.root.each("actions"):
            for event in section.each("event"):
                name, function = self.name_of(event), event.take("action")
                module = event.take("using") or event.take("library")
                if not module or not function:
                    event.ignore()
                    self.note(event, f"event '{name}': function '{function}' of the simulation itself")
                    continue
                wanted: Yaml = {"type": "module", "module": module, "function": function}
                action = function
                while actions.setdefault(action, wanted) != wanted:
                    action += "_"
                self.note(
                    event, f"the code of '{function}': {module} was built for Damaris; rewrite it for halcyon/action.h"
                )
                scope = event.take("scope", "core")
                if scope not in SCOPES:
                    raise self.fail(event, f"event '{name}': scope '{scope}'; expected one of {', '.join(SCOPES)}")
                events[name] = {"actions": [action]}
                if SCOPES[scope] != "client":
                    events[name] = {"actions": [action], "scope": SCOPES[scope]}
        return actions, events


def _flat(name: str) -> str:
    """Layouts, meshes and curves have no groups in Halcyon."""
    return name.replace("/", ".")


def _number(text: str) -> int | float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def _ghost(text: str) -> str:
    before, _, after = text.strip().partition(":")
    return f"[{before}, {after or before}]"

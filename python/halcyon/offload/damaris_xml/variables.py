"""Variables and their groups."""

from halcyon.offload.damaris_xml.conversion import NONE, Conversion, Yaml, flat, look_up
from halcyon.offload.damaris_xml.xml_elements import Element

CENTERINGS = {"nodal": "node", "zonal": "cell"}


def members(c: Conversion, parent: Element, prefix: str, variables: Yaml, groups: Yaml) -> None:
    for variable in parent.each("variable"):
        name = c.name_of(variable)
        entry = variable_entry(c, prefix, name, variable)
        if entry is not None:
            variables[name.replace("/", "_")] = entry
            c.variables[prefix + name] = (variable, entry)
    for group in parent.each("group"):
        name = c.name_of(group)
        if group.take("enabled", "true") == "false":
            group.ignore()
            c.note(group, f"group '{prefix}{name}' is not enabled")
            continue
        own_variables: Yaml = {}
        own_groups: Yaml = {}
        members(c, group, prefix + name + "/", own_variables, own_groups)
        groups[name] = {key: value for key, value in (("variables", own_variables), ("groups", own_groups)) if value}


def variable_entry(c: Conversion, prefix: str, name: str, variable: Element) -> Yaml | None:
    full_name = prefix + name
    if variable.take("enabled", "true") == "false":
        variable.ignore()
        c.note(variable, f"variable '{full_name}' is not enabled")
        return None
    layout_name = variable.take("layout")
    layout = look_up(prefix, layout_name, {*map(flat, c.lost_layouts), *c.layouts})
    if layout is None:
        known = ", ".join(sorted(c.layouts)) or "none"
        raise c.fail(variable, f"variable '{full_name}': no layout '{layout_name}'; known layouts: {known}")
    if layout not in c.layouts:
        variable.ignore()
        c.lose(variable, f"variable '{full_name}', because its layout '{layout_name}' was not")
        return None
    if "/" in name:
        c.note(variable, f"variable '{full_name}' is now '{prefix}{name.replace('/', '_')}'")
    out: Yaml = {"layout": layout}
    mesh = variable.take("mesh")
    if mesh not in NONE:
        found = look_up(prefix, mesh, {flat(known) for known in c.meshes})
        if found is None:
            raise c.fail(variable, f"variable '{full_name}': no mesh '{mesh}'")
        out["mesh"] = found
    if (unit := variable.take("unit")) not in NONE:
        out["unit"] = unit
    if comment := variable.take("comment"):
        out["description"] = comment
    centering = variable.take("centering", "zonal")
    if CENTERINGS.get(centering) == "node":
        out["centering"] = "node"
    elif centering not in CENTERINGS:
        c.note(variable, f"variable '{full_name}': centering {centering}")
    if variable.take("visualizable", "true") != "false":
        out["visualizable"] = True
    if variable.take("time-varying", "true") == "false":
        out["time-varying"] = False
    if (kind := variable.take("type", "scalar")) != "scalar":
        c.lose(variable, f"variable '{full_name}': type {kind}; expected scalar")
    if c.blocks_per_client != 1:
        out["blocks-per-client"] = c.blocks_per_client
    choose_store(c, full_name, variable, out)
    return out


def choose_store(c: Conversion, full_name: str, variable: Element, out: Yaml) -> None:
    """In Damaris a variable without store is not stored; Halcyon's default is the only store."""
    store = variable.take("store")
    if store in c.stores:
        out["store"] = store
        return
    if store not in NONE and store not in c.named_stores:
        known = ", ".join(sorted(c.named_stores)) or "none"
        raise c.fail(variable, f"variable '{full_name}': no store '{store}'; known stores: {known}")
    if store not in NONE:
        c.lose(variable, f"variable '{full_name}': store {store}, which was not converted")
    if c.stores:
        out["store"] = False

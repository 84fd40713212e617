"""Layouts, and what is known of their places."""

from halcyon.offload.damaris_xml.conversion import Conversion, flat
from halcyon.offload.damaris_xml.parameters import expressions
from halcyon.offload.damaris_xml.xml_elements import Element

TYPES = {
    "short": "int16", "int": "int32", "integer": "int32", "long": "int64", "float": "float32", "real": "float32",
    "double": "float64", "char": "int8", "character": "int8",
}  # fmt: skip


def add_layout(c: Conversion, prefix: str, layout: Element) -> None:
    name = prefix + c.name_of(layout)
    kind = layout.take("type").lower()
    reversed_order = layout.take("language", c.language).lower() == "fortran"
    lists = {
        "dimensions": layout.take("dimensions"),
        "global": layout.take("global"),
        "ghosts": layout.take("ghosts") or layout.take("ghost"),
    }
    dimensions = expressions(c, lists["dimensions"])
    if kind not in TYPES or dimensions is None:
        unknown = f"type {kind}; expected one of {', '.join(TYPES)}"
        what = unknown if kind not in TYPES else f"dimensions {lists['dimensions']}"
        c.lose(layout, f"layout '{name}': {what}")
        c.lost_layouts.add(name)
        return
    if reversed_order:
        dimensions.reverse()
    c.layouts[flat(name)] = {"type": TYPES[kind], "dimensions": dimensions}
    note_place(c, layout, name, lists, reversed_order)


def note_place(c: Conversion, layout: Element, name: str, lists: dict[str, str], reversed_order: bool) -> None:
    """Damaris learns a block's position from the program, so a place cannot be complete; what is known is said."""
    whole = expressions(c, lists["global"]) if lists["global"] else None
    ghosts = [_ghost(part) for part in lists["ghosts"].split(",")] if lists["ghosts"] else []
    has_ghosts = any(ghost != "[0, 0]" for ghost in ghosts)
    if reversed_order:
        ghosts.reverse()
        if whole:
            whole.reverse()
    if lists["global"] and whole is None:
        c.note(layout, f"layout '{name}': global {lists['global']}")
    if not has_ghosts and (whole is None or lists["global"] == lists["dimensions"]):
        return
    known = f"global: [{', '.join(str(n) for n in whole)}], " if whole else "global: […], "
    ghost = f", ghost: [{', '.join(ghosts)}]" if has_ghosts else ""
    c.note(
        layout,
        f"layout '{name}': its place in the whole, because the program sets positions (damaris_set_position); "
        f"complete and name it in the variables: places: {flat(name)}: {{{known}offset: […]{ghost}}}",
    )


def _ghost(text: str) -> str:
    before, _, after = text.strip().partition(":")
    return f"[{before}, {after or before}]"

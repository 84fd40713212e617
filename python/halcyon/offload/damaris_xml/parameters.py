"""Parameters, and the expressions over them."""

import re

from halcyon.offload.damaris_xml.conversion import Conversion, Yaml
from halcyon.offload.damaris_xml.xml_elements import Element
from halcyon.offload.damaris_xml.yaml_text import Value

RESERVED = {"rank", "size", "block", "min", "max", "ceil"}

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EXPRESSION = re.compile(r"[A-Za-z0-9_+\-*/%(). ]+")


def read_parameters(c: Conversion, data: Element | None) -> Yaml:
    out: Yaml = {}
    for parameter in data.each("parameter") if data is not None else ():
        name = c.name_of(parameter)
        kind, value = parameter.take("type"), parameter.take("value")
        number = _number(value)
        if number is None:
            c.note(parameter, f"parameter '{name}' of type {kind}: its value '{value}' is not a number")
            continue
        fitting = name if _NAME.fullmatch(name) and name not in RESERVED else re.sub(r"\W", "_", name) + "_"
        if fitting != name:
            c.renamed[name] = fitting
            c.note(parameter, f"parameter '{name}' is now '{fitting}', because expressions cannot use its name")
        out[fitting] = number
    if out and data is not None:
        c.note(data, "parameters that the program changes after the start need `mutable: true` and `max`")
    return out


def expressions(c: Conversion, text: str) -> list[Value] | None:
    """A comma-separated list in C order; None when something in it has no counterpart."""
    out: list[Value] = []
    for part in (part.strip() for part in text.split(",")):
        if part.isdecimal():
            out.append(int(part))
        elif _EXPRESSION.fullmatch(part):
            out.append(_NAME.sub(lambda name: c.renamed.get(name[0], name[0]), part))
        else:
            return None
    return out


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

"""Turns Doxygen's XML of a header into one Markdown page: declarations in the order of the header, with comments."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

# Kinds of members that belong to a reader's interface; macros are include guards and attributes here.
_MEMBERS = {"function", "enum", "typedef", "variable"}


@dataclass
class Entry:
    """One heading of a page: a function, an enumeration, a class, …"""

    line: int
    title: str
    declaration: str
    text: str
    table: list[tuple[str, str]] = field(default_factory=list)
    members: list["Entry"] = field(default_factory=list)


def _escaped(text: str | None) -> str:
    """A comment's `*` is a pointer or a product, its `<` an angle, never markup."""
    return (text or "").replace("*", "\\*").replace("<", "&lt;")


def _inline(node: ET.Element) -> str:
    """Text with its markup, without block structure."""
    if node.tag == "computeroutput":
        return f"`{''.join(node.itertext())}`"
    parts = [_escaped(node.text)]
    for child in node:
        inner = _inline(child)
        match child.tag:
            case "bold":
                parts.append(f"**{inner}**")
            case "emphasis":
                parts.append(f"*{inner}*")
            case "sp" | "linebreak":
                parts.append(" ")
            case _:
                parts.append(inner)
        parts.append(_escaped(child.tail))
    return "".join(parts)


def _code(line: ET.Element) -> str:
    """A line of a listing; Doxygen writes its blanks as elements."""
    parts = [line.text or ""]
    for child in line:
        parts += [" " if child.tag == "sp" else _code(child), child.tail or ""]
    return "".join(parts)


def _blocks(node: ET.Element | None) -> str:
    """A description's paragraphs, lists and listings as Markdown."""
    if node is None:
        return ""
    blocks: list[str] = []
    for child in node:
        match child.tag:
            case "para":
                blocks.append(_paragraph(child))
            case "itemizedlist" | "orderedlist":
                blocks.append("\n".join(f"- {_blocks(item)}" for item in child.findall("listitem")))
            case "sect1":
                blocks.append(_blocks(child))
    return "\n\n".join(block for block in blocks if block.strip())


def _paragraph(para: ET.Element) -> str:
    """A paragraph; Doxygen nests lists, listings and parameter lists inside it."""
    blocks = []
    running = ET.Element("para")
    running.text = para.text
    for child in para:
        if child.tag in {"itemizedlist", "orderedlist", "verbatim", "programlisting", "simplesect", "parameterlist"}:
            blocks.append(_inline(running).strip())
            running = ET.Element("para")
            running.text = child.tail
            match child.tag:
                case "verbatim":
                    blocks.append(f"```\n{(child.text or '').strip(chr(10))}\n```")
                case "programlisting":
                    lines = [_code(line) for line in child.findall("codeline")]
                    blocks.append("```cpp\n" + "\n".join(lines) + "\n```")
                case "simplesect":
                    blocks.append(f"*{child.get('kind', '').capitalize()}:* {_blocks(child)}")
                case "parameterlist":
                    items = [
                        f"- `{_inline(name)}`: {_blocks(item.find('parameterdescription'))}"
                        for item in child.findall("parameteritem")
                        for name in item.iter("parametername")
                    ]
                    if child.get("kind") == "retval":
                        blocks.append("Returned errors:")
                    blocks.append("\n".join(items))
                case _:
                    blocks.append("\n".join(f"- {_blocks(item)}" for item in child.findall("listitem")))
        else:
            running.append(child)
    blocks.append(_inline(running).strip())
    return "\n\n".join(block for block in blocks if block)


def _described(node: ET.Element) -> str:
    parts = (_blocks(node.find("briefdescription")), _blocks(node.find("detaileddescription")))
    text = "\n\n".join(part for part in parts if part)
    # The line breaks are those of the comment.
    return re.sub(r"(?<=\S)\n(?!\n|- |```)", " ", text) if "```" not in text else text


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|").strip()


def _plain(node: ET.Element | None) -> str:
    """A type as the source has it: `const char*`, where Doxygen writes `const char *`."""
    text = "" if node is None else "".join(node.itertext()).strip()
    text = re.sub(r"\s+(?=[\s*&])", "", text)
    return re.sub(r"< (.*) >", r"<\1>", text)


def _parameter(param: ET.Element) -> str:
    text = f"{_plain(param.find('type'))} {param.findtext('declname') or ''}".strip() + _plain(param.find("array"))
    default = _plain(param.find("defval"))
    return f"{text} = {default}" if default else text


def _function(member: ET.Element) -> str:
    name = member.findtext("name") or ""
    result = _plain(member.find("type"))
    parameters = [_parameter(param) for param in member.findall("param")]
    arguments = member.findtext("argsstring") or ""
    suffix = arguments[arguments.rfind(")") + 1 :].strip()
    template = member.find("templateparamlist")
    head = ""
    if template is not None:
        head = f"template <{', '.join(_parameter(p) for p in template.findall('param'))}>\n"
    if parameters == ["void"]:
        parameters = []
    text = f"{result} {name}({', '.join(parameters)})".strip()
    return f"{head}{text}{' ' + suffix if suffix else ''};"


def _member(member: ET.Element, line: int) -> Entry | None:
    name = member.findtext("name") or ""
    kind = member.get("kind")
    if member.get("prot") == "private" or name.startswith("@"):
        return None
    text = _described(member)
    if kind == "function":
        return Entry(line, f"{name}", _function(member), text)
    if kind == "enum":
        table = []
        for value in member.findall("enumvalue"):
            number = _plain(value.find("initializer"))
            table.append((f"`{value.findtext('name')}{' ' + number if number else ''}`", _cell(_described(value))))
        keyword = "enum class" if member.get("strong") == "yes" else "enum"
        return Entry(line, name, f"{keyword} {name};", text, table)
    if kind == "typedef":
        # `typedef enum x {…} x;` is documented as the enumeration.
        if re.fullmatch(rf"(enum|struct) {re.escape(name)}", _plain(member.find("type"))):
            return None
        definition = _plain(member.find("definition"))
        return Entry(line, name, f"{definition};", text)
    return Entry(line, name, f"{_plain(member.find('definition'))};", text)


def _class(compound: ET.Element, line: int) -> Entry:
    name = compound.findtext("compoundname") or ""
    short = name.rsplit("::", 1)[-1]
    kind = compound.get("kind", "class")
    entry = Entry(line, name, f"{kind} {short};", _described(compound))
    for member in compound.iter("memberdef"):
        where = member.find("location")
        made = _member(member, int(where.get("line", "0")) if where is not None else 0)
        if made is None or member.get("kind") not in _MEMBERS:
            continue
        if member.get("kind") == "variable":
            entry.table.append((f"`{_plain(member.find('type'))} {made.title}`", _cell(made.text)))
        elif made.text or made.title not in {short, f"~{short}", "operator="}:
            # Constructors and assignments without a comment do what one expects.
            entry.members.append(made)
        elif made.title == short and "&&" not in made.declaration:
            entry.members.append(made)
    return entry


def entries_of(header: Path, xml: Path) -> list[Entry]:
    """Everything that `header` declares, in its order. `xml` is Doxygen's output folder."""
    entries: list[Entry] = []
    seen: set[str] = set()
    for file in sorted(xml.glob("*.xml")):
        if file.name == "index.xml":
            continue
        for compound in ET.parse(file).iter("compounddef"):
            where = compound.find("location")
            here = where is not None and Path(where.get("file", "")).resolve() == header.resolve()
            if compound.get("kind") in {"struct", "class"}:
                name = compound.findtext("compoundname") or ""
                # Members are read from the private ones' owner only; a bare declaration has nothing to show.
                if here and where is not None and compound.get("prot") != "private" and "@" not in name:
                    entries.append(_class(compound, int(where.get("line", "0"))))
                continue
            for member in compound.iter("memberdef"):
                place = member.find("location")
                identity = member.get("id", "")
                if place is None or member.get("kind") not in _MEMBERS or identity in seen:
                    continue
                if Path(place.get("file", "")).resolve() != header.resolve():
                    continue
                seen.add(identity)
                made = _member(member, int(place.get("line", "0")))
                if made is not None:
                    entries.append(made)
    return sorted(entries, key=lambda entry: entry.line)


def _lines(entry: Entry, level: int) -> list[str]:
    lines = [f"{'#' * level} {entry.title}", "", "```cpp", entry.declaration, "```", ""]
    if entry.text:
        lines += [entry.text, ""]
    if entry.table:
        lines += ["| | |", "|---|---|", *(f"| {name} | {text} |" for name, text in entry.table), ""]
    for member in entry.members:
        lines += _lines(member, level + 1)
    return lines


def opening_comment(header: Path) -> str:
    """The comment a header begins with, which introduces its page; '' when it begins otherwise."""
    text = header.read_text()
    if not text.startswith("/*"):
        return ""
    lines = [line.strip().removeprefix("*").strip() for line in text[2 : text.index("*/")].splitlines()]
    return "\n".join(lines).strip("*").strip()


def page(header: Path, include: str, xml: Path) -> str:
    """The Markdown page of one header, included as `<include>`."""
    lines = [f"# {include}", "", f"```cpp\n#include <{include}>\n```", ""]
    introduction = opening_comment(header)
    if introduction:
        lines += [introduction, ""]
    for entry in entries_of(header, xml):
        lines += _lines(entry, 2)
    return "\n".join(lines)

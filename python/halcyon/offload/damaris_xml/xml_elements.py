"""XML as a tree whose elements know their lines and which of their attributes and children were read.

What nobody read can be listed, so that a converter cannot drop anything by forgetting it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from halcyon.errors import ConfigError


@dataclass
class Element:
    """One element; names are without namespace prefixes."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)
    text: str = ""
    read_attributes: set[str] = field(default_factory=set)
    is_read: bool = False

    def take(self, name: str, default: str = "") -> str:
        """The attribute without blanks around it, or the default; it then counts as read."""
        self.read_attributes.add(name)
        return self.attributes.get(name, default).strip()

    def each(self, *tags: str) -> Iterator["Element"]:
        """The children with one of these tags, in order; they then count as read."""
        for child in self.children:
            if child.tag in tags:
                child.is_read = True
                yield child

    def first(self, tag: str) -> "Element | None":
        """The first child with this tag; it then counts as read."""
        return next(self.each(tag), None)

    def ignore(self) -> None:
        """Counts the element and all in it as read."""
        self.is_read = True
        self.read_attributes.update(self.attributes)
        self.text = ""
        for child in self.children:
            child.ignore()

    def unread(self) -> Iterator[tuple[int, str]]:
        """Line and description of what was not read: the outermost elements, and attributes of elements that were."""
        if not self.is_read:
            shown = " ".join(f'{name}="{value}"' for name, value in self.attributes.items())
            yield self.line, f"<{self.tag}{' ' + shown if shown else ''}>"
            return
        for name, value in self.attributes.items():
            if name not in self.read_attributes:
                owner = f' name="{self.attributes["name"]}"' if "name" in self.attributes and name != "name" else ""
                yield self.line, f'<{self.tag}{owner}> {name}="{value}"'
        for child in self.children:
            yield from child.unread()


def parse(xml_text: str, file_name: str) -> Element:
    """The document's root. ConfigError: not XML, or it declares entities (which could grow without bound)."""
    parser = expat.ParserCreate()
    open_elements: list[Element] = []
    roots: list[Element] = []

    def fail(line: int, message: str) -> ConfigError:
        return ConfigError(f"{file_name}:{line}: {message}")

    def start(tag: str, attributes: dict[str, str]) -> None:
        own = {
            name.rpartition(":")[2]: value
            for name, value in attributes.items()
            if name != "xmlns" and not name.startswith(("xmlns:", "xsi:"))
        }
        element = Element(tag.rpartition(":")[2], own, parser.CurrentLineNumber)
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)

    def end(_tag: str) -> None:
        open_elements.pop()

    def text(data: str) -> None:
        if open_elements:
            open_elements[-1].text += data

    def entity(*_declaration: object) -> None:
        raise fail(parser.CurrentLineNumber, "entity declarations are not accepted")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(xml_text.encode(), True)
    except expat.ExpatError as wrong:
        raise fail(wrong.lineno, f"not XML: {expat.errors.messages[wrong.code]}") from wrong
    return roots[0]

"""What the parts of a conversion share: where names lead, what was converted so far, and what could not be."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from halcyon.errors import ConfigError
from halcyon.offload.damaris_xml.xml_elements import Element
from halcyon.offload.damaris_xml.yaml_text import Value

Yaml = dict[str, Value]

NONE = ("", "#")  # how Damaris says that an attribute is not given


@dataclass
class Conversion:
    """One file under conversion. `layouts` has the flat names of the result; the others have those of the XML."""

    root: Element
    file_name: str
    language: str = "unknown"
    notes: list[tuple[int, str]] = field(default_factory=list)
    losses: list[tuple[int, str]] = field(default_factory=list)
    """Of the notes: those by which data would be stored otherwise, or not at all."""
    named_stores: set[str] = field(default_factory=set)
    renamed: dict[str, str] = field(default_factory=dict)
    layouts: Yaml = field(default_factory=dict)
    lost_layouts: set[str] = field(default_factory=set)
    meshes: dict[str, Element] = field(default_factory=dict)
    variables: dict[str, tuple[Element, Yaml]] = field(default_factory=dict)
    stores: Yaml = field(default_factory=dict)
    blocks_per_client: int = 1

    def fail(self, element: Element, message: str) -> ConfigError:
        return ConfigError(f"{self.file_name}:{element.line}: {message}")

    def note(self, element: Element, message: str) -> None:
        self.notes.append((element.line, message))

    def lose(self, element: Element, message: str) -> None:
        """Notes that a store, mesh or type, and with it data, is not in the result."""
        self.note(element, message)
        self.losses.append((element.line, message))

    def name_of(self, element: Element) -> str:
        name = element.take("name")
        if not name:
            raise self.fail(element, f"<{element.tag}> has no name")
        return name


def in_groups(c: Conversion, parent: Element, prefix: str, tag: str) -> Iterator[tuple[str, Element]]:
    """The elements of this tag in the group and all groups inside it, each with its group's prefix."""
    for element in parent.each(tag):
        yield prefix, element
    for group in parent.each("group"):
        if group.take("enabled", "true") != "false":
            yield from in_groups(c, group, prefix + c.name_of(group) + "/", tag)


def look_up(prefix: str, name: str, known: set[str]) -> str | None:
    """The flat name of what `name` means inside a group: there, in the groups around it, or at the top."""
    while True:
        if flat(prefix + name) in known:
            return flat(prefix + name)
        if not prefix:
            return None
        prefix = prefix[:-1].rpartition("/")[0]
        prefix += "/" if prefix else ""


def flat(name: str) -> str:
    """Layouts, meshes and curves have no groups in Halcyon."""
    return name.replace("/", ".")

"""<architecture>: dedicated cores and the buffer."""

from halcyon.offload.damaris_xml.conversion import Conversion, Yaml
from halcyon.offload.damaris_xml.xml_elements import Element


def read_architecture(c: Conversion, out: Yaml) -> Yaml:
    resources: Yaml = {}
    architecture = c.root.first("architecture")
    if architecture is None:
        return resources
    for domains in architecture.each("domains"):
        c.blocks_per_client = count(c, domains, "count", 1)
    for dedicated in architecture.each("dedicated"):
        cores = count(c, dedicated, "cores", 0)
        nodes = count(c, dedicated, "nodes", 0)
        if nodes:
            c.note(dedicated, f'<dedicated nodes="{nodes}">: Halcyon dedicates cores of every node')
        if cores == 0 and nodes == 0:
            out["inline"] = True
        elif cores > 1:
            resources["servers-per-node"] = cores
    for buffer in architecture.each("buffer"):
        resources["buffer"] = {"size": count(c, buffer, "size", 0)}
    return resources


def count(c: Conversion, element: Element, attribute: str, default: int) -> int:
    text = element.take(attribute, str(default))
    if not text.isdecimal():
        raise c.fail(element, f"<{element.tag}> {attribute}: '{text}' is not a whole number")
    return int(text)

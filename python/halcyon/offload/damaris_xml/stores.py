"""<storage>: the stores."""

from halcyon.offload.damaris_xml.conversion import Conversion, Yaml
from halcyon.offload.damaris_xml.xml_elements import Element


def read_stores(c: Conversion) -> None:
    for storage in c.root.each("storage"):
        for store in storage.each("store"):
            name = c.name_of(store)
            c.named_stores.add(name)
            kind = store.take("type")
            if kind.lower() != "hdf5":
                store.ignore()
                c.lose(store, f"store '{name}': type {kind}; expected HDF5")
                continue
            c.stores[name] = store_entry(c, name, store)


def store_entry(c: Conversion, name: str, store: Element) -> Yaml:
    out: Yaml = {"type": "hdf5", "path": "."}
    for option in store.each("option"):
        key, value = option.take("key"), option.text.strip()
        if key == "FilesPath":
            out["path"] = value or "."
        elif key == "FileMode" and value == "Collective":
            out["collective"] = True
        elif not (key == "FileMode" and value == "FilePerNode"):
            c.note(option, f"store '{name}': option {key} {value}")
    return out

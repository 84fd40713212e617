"""<actions>: events and the code that they run."""

from halcyon.offload.damaris_xml.conversion import Conversion, Yaml

SCOPES = {"core": "client", "group": "node", "bcast": "job"}


def read_actions(c: Conversion) -> tuple[Yaml, Yaml]:
    actions: Yaml = {}
    events: Yaml = {}
    for section in c.root.each("actions"):
        for event in section.each("event"):
            name, function = c.name_of(event), event.take("action")
            module = event.take("using") or event.take("library")
            if not module or not function:
                event.ignore()
                c.note(event, f"event '{name}': function '{function}' of the simulation itself")
                continue
            wanted: Yaml = {"type": "module", "module": module, "function": function}
            action = function
            while actions.setdefault(action, wanted) != wanted:
                action += "_"
            c.note(event, f"the code of '{function}': {module} was built for Damaris; rewrite it for halcyon/action.h")
            scope = event.take("scope", "core")
            if scope == "global":
                raise c.fail(
                    event,
                    f"event '{name}': scope 'global' runs when every process of the simulation has raised the event, "
                    "for which Halcyon has no barrier yet; use 'group' (all processes of a node) or 'bcast' (one "
                    "process, on all nodes)",
                )
            if scope not in SCOPES:
                raise c.fail(event, f"event '{name}': scope '{scope}'; expected one of {', '.join(SCOPES)}")
            events[name] = {"actions": [action]}
            if SCOPES[scope] != "client":
                events[name] = {"actions": [action], "scope": SCOPES[scope]}
    return actions, events

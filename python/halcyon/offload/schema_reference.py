"""Writes the reference page of the configuration from its JSON Schema.

python -m halcyon.offload.schema_reference schema/halcyon.schema.json > docs/configuration.md
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

INTRODUCTION = """\
# Configuration

<!-- Written by `python -m halcyon.offload.schema_reference`; change the schema or that module instead. -->

`halcyon.yaml` says what a simulation writes and what happens to it. `halcyon check halcyon.yaml` says whether a file
is right, and a mistake is reported with its file, line and key:

    cloud.yaml:14: data.variables.theta.layout: no layout 'grid3d'; known layouts: grid, surface

`halcyon check --ranks 64 --ranks-per-node 32 halcyon.yaml` tells before the job is submitted whether `open` would
refuse a run of 64 processes, 32 on each node (by default all on one): it evaluates every block and says how much an
iteration writes and how large each node's buffer must be. It warns of blocks that overlap or leave holes in their
whole, and of meshes that do not fit their variables; a run does not stop for those. Stores and modules are loaded as
a server would load them, so check where the job will run, in its working directory. Exit code 1: it would be refused.
`--set nx=64` sets a parameter as the simulation would before it opens its session. The directories and the memory
are those of the machine on which the check runs. Directories for output and logs are tried: a hidden directory is made
where they are, or would be made, and removed again. A configuration without `stores` is a warning: its output is
accepted and dropped, unless plugins see it; the log and the summary of such a run say so, with a count. The last line
is `OK`, with what was looked at. Where Halcyon is installed without Python, `halcyon-check halcyon.yaml 64 32 nx=64`
does the same.

A small one:

```yaml
halcyon: 1
simulation: cloud
parameters: {nx: 64, ny: 64, nz: 32, px: 2}
data:
  layouts:
    grid: {type: float32, dimensions: [nz, ny, nx/px]}
  places:
    whole: {global: [nz, ny, nx], offset: [0, 0, rank * (nx/px)]}
  variables:
    theta: {layout: grid, place: whole, unit: K}
stores:
  main: {path: out}
```

The file is YAML 1.2 in UTF-8: a word in quotes is a string, a plain `yes` is one too, a key may be given once. Only
finite numbers are accepted, tabs may not indent, and nesting ends at 64 levels.

## Expressions

Dimensions, places and ghost layers are whole numbers or arithmetic over parameters: `+ - * / %`, parentheses, numbers,
names, `min(a, b)`, `max(a, b)` and `ceil(x)`. Besides the parameters there are `rank` and `size`, of the communicator
of open, and `block`, which counts the blocks of a process from 0.

- Two whole numbers divide downwards: `7/2` is 3 and `-7/2` is -4. `ceil(7/2)` is 4: it rounds the exact quotient up.
- `a % b` has the sign of `b`.
- Arithmetic on whole numbers is exact. A result beyond 2<sup>53</sup>, a division by zero and an extent that is
  negative or no whole number are errors; what does not depend on the process is evaluated when the file is read.
- In a list in brackets, an expression with a comma must be quoted: `["min(nx, 4)", ny]`.
"""

NAMED = {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`"}


class _Page:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.definitions: dict[str, Schema] = schema.get("definitions", {})

    def resolve(self, schema: Schema) -> Schema:
        """The schema that a reference means; what stands beside the reference wins."""
        if "$ref" not in schema:
            return schema
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return self.resolve(self.definitions[self.target(schema)]) | beside

    @staticmethod
    def target(schema: Schema) -> str:
        return str(schema["$ref"]).removeprefix("#/definitions/")

    def has_section(self, schema: Schema) -> bool:
        """Whether a type has a table of its own: it has keys, or it is used for its words alone."""
        return "properties" in schema or any("properties" in self.resolve(one) for one in schema.get("anyOf", ()))

    def kind(self, schema: Schema) -> str:
        """What a value may be, in words, with links to the tables of maps."""
        resolved = self.resolve(schema)
        if "$ref" in schema:
            name = self.target(schema)
            title = str(resolved.get("title", name))
            return f"[{title}](#{anchor(title)})" if self.has_section(resolved) else self.words(resolved, title)
        return self.words(resolved, "")

    def words(self, schema: Schema, title: str) -> str:
        if "enum" in schema:
            return " \\| ".join(f"`{word if isinstance(word, str) else json.dumps(word)}`" for word in schema["enum"])
        if title:
            return title
        if "x-expected" in schema:
            return f"({schema['x-expected']})"
        if "anyOf" in schema:
            return " or ".join(self.kind(choice) for choice in schema["anyOf"])
        kinds: str | list[str] = schema.get("type", "anything")
        if isinstance(kinds, list):
            return " or ".join(NAMED.get(kind, kind) for kind in kinds)
        if kinds == "object":
            return f"name: {self.kind(schema['additionalProperties'])}, …"
        if kinds == "array":
            return f"list of {self.kind(schema['items'])}{length(schema)}"
        return NAMED.get(kinds, kinds) + bounds(schema)

    def table(self, schema: Schema) -> Iterator[str]:
        required = schema.get("required", [])
        yield "| key | value | default | meaning |"
        yield "|---|---|---|---|"
        for key, value in schema["properties"].items():
            resolved = self.resolve(value)
            default = "**required**" if key in required else default_of(resolved)
            yield f"| `{key}` | {self.kind(value)} | {default} | {resolved.get('description', '')} |"

    def section(self, name: str, schema: Schema) -> Iterator[str]:
        yield ""
        yield f"## {schema.get('title', name)}"
        yield ""
        if "description" in schema:
            yield schema["description"]
            yield ""
        for part in [schema, *(self.resolve(one) for one in schema.get("anyOf", ()))]:
            if "properties" in part:
                yield from self.table(part)

    def values(self) -> Iterator[str]:
        """The kinds of value that have a name but no keys."""
        yield ""
        yield "## Values"
        yield ""
        yield "| name | what it is |"
        yield "|---|---|"
        for schema in self.definitions.values():
            if not self.has_section(schema) and "enum" not in schema and "anyOf" not in schema:
                yield f"| {schema['title']} | {schema['description']} |"

    def lines(self) -> Iterator[str]:
        yield INTRODUCTION.rstrip("\n")
        yield from self.values()
        yield from self.section("halcyon.yaml", self.schema)
        for name, schema in self.definitions.items():
            if self.has_section(schema):
                yield from self.section(name, schema)


def default_of(schema: Schema) -> str:
    """The default as it would be written; a default that is a sentence stays one."""
    if "default" not in schema:
        return ""
    default = schema["default"]
    if isinstance(default, str):
        return default if "`" in default else f"`{default}`" if default else "empty"
    return f"`{json.dumps(default)}`"


def bounds(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" {low} … {high}"
    return f" from {low}" if low is not None else f" to {high}" if high is not None else ""


def length(schema: Schema) -> str:
    low, high = schema.get("minItems"), schema.get("maxItems")
    if low is not None and low == high:
        return f", {low} of them"
    if low is not None and high is not None:
        return f", {low} to {high}"
    return f", at least {low}" if low is not None else f", at most {high}" if high is not None else ""


def anchor(title: str) -> str:
    return title.lower().replace(" ", "-").replace(".", "")


def page(schema: Schema) -> str:
    """The whole page as Markdown."""
    return "\n".join(_Page(schema).lines()) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))

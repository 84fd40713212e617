"""What a sweep varies: parameters with their values, and points of the space that they span."""

from collections.abc import Iterator
from dataclasses import dataclass

from halcyon.errors import UsageError
from halcyon.quantities import parse_bytes

STRIPE_COUNT = "striping_factor"
STRIPE_BYTES = "striping_unit"
AGGREGATORS = "cb_nodes"
BUFFER_BYTES = "cb_buffer_size"

_BYTES = (STRIPE_BYTES, BUFFER_BYTES)
_NAMES = {
    STRIPE_COUNT: "storage targets",
    STRIPE_BYTES: "stripe size",
    AGGREGATORS: "aggregators",
    BUFFER_BYTES: "aggregator's buffer",
}

Point = tuple[tuple[str, int], ...]
"""A value of each parameter, in the order of the space."""


@dataclass(frozen=True)
class Parameter:
    """One hint and the values it may take, ascending."""

    name: str
    values: tuple[int, ...]

    @property
    def title(self) -> str:
        """For people."""
        return _NAMES.get(self.name, self.name)

    @property
    def in_bytes(self) -> bool:
        return self.name in _BYTES

    def show(self, value: int) -> str:
        """`64`, or `4 MiB`."""
        if not self.in_bytes:
            return str(value)
        for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
            if value % factor == 0:
                return f"{value // factor} {unit}"
        return f"{value} B"

    @classmethod
    def parse(cls, text: str) -> "Parameter":
        """Of `cb_nodes=1,2,4` or `cb_buffer_size=1MiB,16MiB`. UsageError: it is none."""
        name, equals, values = text.partition("=")
        if not equals or name not in _NAMES:
            raise UsageError(f"--values: '{text}'; expected NAME=VALUE,… with one of: {', '.join(_NAMES)}")
        found = sorted({parse_bytes(value, f"--values {name}") for value in values.split(",")})
        if found[0] < 1:
            raise UsageError(f"--values {name}: '{values}'; expected whole numbers above 0")
        return cls(name, tuple(found))


@dataclass(frozen=True)
class Space:
    """All combinations of its parameters' values."""

    parameters: tuple[Parameter, ...]

    def __len__(self) -> int:
        product = 1
        for parameter in self.parameters:
            product *= len(parameter.values)
        return product

    def nearest(self, wanted: dict[str, int]) -> Point:
        """The point whose values are nearest to those wanted (the lowest where none is)."""
        return tuple(
            (one.name, min(one.values, key=lambda value: abs(value - wanted.get(one.name, 0))))
            for one in self.parameters
        )

    def line(self, parameter: Parameter, through: Point) -> Iterator[Point]:
        """All points that differ from one in this parameter alone, and that one."""
        for value in parameter.values:
            yield tuple((name, value if name == parameter.name else own) for name, own in through)

    def show(self, point: Point) -> str:
        """One line for people."""
        known = {parameter.name: parameter for parameter in self.parameters}
        return ", ".join(f"{known[name].title} {known[name].show(value)}" for name, value in point)


def cost(point: Point) -> int:
    """What a point takes from others: storage targets; where striping is not varied, bytes of aggregators' buffers."""
    values = dict(point)
    if STRIPE_COUNT in values:
        return values[STRIPE_COUNT]
    return values.get(AGGREGATORS, 1) * values.get(BUFFER_BYTES, 1)

"""Tables of measurements as users name them: a CSV file, or a published table such as `wright:6.3`."""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import ConfigError, HalcyonSystemError
from halcyon.models.published import named

MOST = 1 << 40
"""Of whole numbers, as of options."""


@dataclass(frozen=True)
class Row:
    """One line; `where` names it in messages. Its numbers raise ConfigError where they are none."""

    where: str
    values: dict[str, str]

    def has(self, column: str) -> bool:
        return bool(self.values.get(column))

    def positive(self, column: str) -> float:
        return self._number(column, "a number above 0", least=0.0, above=True)

    def whole(self, column: str, least: int = 1) -> int:
        expected = f"a whole number from {least} to 2^40"
        number = self._number(column, expected, least=least)
        if number != int(number) or number > MOST:
            raise self._wrong(column, expected)
        return int(number)

    def _number(self, column: str, expected: str, *, least: float, above: bool = False) -> float:
        try:
            value = float(self.values.get(column) or "")
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < least or (above and value == least):
            raise self._wrong(column, expected)
        return value

    def _wrong(self, column: str, expected: str) -> ConfigError:
        return ConfigError(f"{self.where}: {column}: '{self.values.get(column)}'; expected {expected}")


@dataclass(frozen=True)
class Rows:
    """A table with its columns."""

    source: str
    columns: Sequence[str]
    rows: list[Row]

    def require(self, *columns: str) -> None:
        """ConfigError: a column is missing, or there is no row."""
        for column in columns:
            if column not in self.columns:
                where = self.source if named.is_name(self.source) else f"{self.source}:1"
                raise ConfigError(f"{where}: no column '{column}'; found: {', '.join(self.columns) or 'none'}")
        if not self.rows:
            raise ConfigError(f"{self.source}: no measurement: it has a line of names alone")


def read_rows(source: Path | str) -> Rows:
    """Of a CSV file with a line of names, or of a published table. UsageError: no published table has this name.
    ConfigError: not a CSV file. HalcyonSystemError: it cannot be read."""
    name = str(source)
    if named.is_name(name):
        values = named.table_of(name)
        return Rows(name, list(values[0]), [Row(name, one) for one in values])
    try:
        with Path(source).open(newline="", encoding="utf-8") as file:
            lines = csv.DictReader(file, restval="")
            columns = list(lines.fieldnames or ())
            rows = [
                Row(f"{name}:{lines.line_num}", {key: value for key, value in line.items() if isinstance(value, str)})
                for line in lines
            ]
    except OSError as why:
        raise HalcyonSystemError.of(why, source) from why
    except (UnicodeDecodeError, csv.Error) as why:
        raise ConfigError(f"{name}: not a CSV file: {why}") from why
    return Rows(name, columns, rows)

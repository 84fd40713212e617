"""Conditions over the values of a block: `max(qr) > 1e-4 and mean(w) > 0`."""

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halcyon.errors import UsageError

_REDUCTIONS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "min": np.min,
    "max": np.max,
    "mean": np.mean,
    "sum": np.sum,
    "std": np.std,
    "range": np.ptp,
    "any": np.any,
    "all": np.all,
}
_ELEMENTWISE: dict[str, Callable[..., Any]] = {"abs": np.abs, "sqrt": np.sqrt, "log10": np.log10}
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.USub: operator.neg, ast.UAdd: operator.pos,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip


class BlockExpression:
    """Parsed once, evaluated for each block. Names are variables; one with a `/` stands in quotes: `max('micro/qc')`.

    Reductions are min, max, mean, sum, std and range of the finite elements, any and all. A condition that is left as
    an array holds where any of its elements does. UsageError, also when it is evaluated: it begins with `where`.
    """

    def __init__(self, text: str, where: str) -> None:
        self.text, self._where = text, where
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as why:
            raise self._wrong("is no expression") from why
        names: dict[str, None] = {}
        self._look(self._tree, names)
        if not names:
            raise self._wrong("names no variable")
        self.names = tuple(names)

    def holds(self, values: Mapping[str, NDArray[Any]]) -> bool:
        """For a block with these values; those of whole numbers count as floating point."""
        with np.errstate(all="ignore"):
            return bool(np.any(self._value(self._tree, values)))

    def _wrong(self, what: str) -> UsageError:
        return UsageError(f"{self._where}: '{self.text}' {what}; expected a condition such as max(qr) > 1e-4")

    def _look(self, node: ast.expr, names: dict[str, None]) -> None:
        """Refuses what is no part of the language, and collects names."""
        match node:
            case ast.Constant(value=bool()) | ast.Constant(value=int()) | ast.Constant(value=float()):
                pass
            case ast.Name(id=name) | ast.Constant(value=str(name)):
                names[name] = None
            case ast.BoolOp(values=parts):
                for part in parts:
                    self._look(part, names)
            case ast.UnaryOp(operand=part) if isinstance(node.op, ast.Not) or type(node.op) in _OPERATORS:
                self._look(part, names)
            case ast.BinOp(left=left, right=right) if type(node.op) in _OPERATORS:
                self._look(left, names)
                self._look(right, names)
            case ast.Compare(left=left, ops=signs, comparators=others) if all(type(s) in _OPERATORS for s in signs):
                for part in (left, *others):
                    self._look(part, names)
            case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]):
                if name not in _REDUCTIONS and name not in _ELEMENTWISE:
                    known = ", ".join(sorted({*_REDUCTIONS, *_ELEMENTWISE}))
                    raise self._wrong(f"has no function '{name}' (known: {known})")
                if len(parts) != 1:
                    raise self._wrong(f"gives '{name}' {len(parts)} values instead of one")
                self._look(parts[0], names)
            case _:
                raise self._wrong(f"holds '{ast.unparse(node)}', which is none of numbers, variables and arithmetic")

    def _value(self, node: ast.expr, values: Mapping[str, NDArray[Any]]) -> Any:
        match node:
            case ast.Constant(value=bool() | int() | float() as number):
                return float(number)  # whole ones of Python could grow for hours
            case ast.Name(id=name) | ast.Constant(value=str(name)):
                found = values[name]
                return found if found.dtype.kind == "f" else found.astype(np.float64)
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(np.any(self._value(part, values)) for part in parts)
            case ast.BoolOp(values=parts):
                return any(np.any(self._value(part, values)) for part in parts)
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return not np.any(self._value(part, values))
            case ast.UnaryOp(op=sign, operand=part):
                return _OPERATORS[type(sign)](self._value(part, values))
            case ast.BinOp(left=left, op=sign, right=right):
                return self._computed(_OPERATORS[type(sign)], self._value(left, values), self._value(right, values))
            case ast.Compare(left=left, ops=comparisons, comparators=others):
                result: Any = True
                one = self._value(left, values)
                for comparison, part in zip(comparisons, others, strict=True):
                    other = self._value(part, values)
                    result = np.logical_and(result, self._computed(_OPERATORS[type(comparison)], one, other))
                    one = other
                return result
            case ast.Call(func=ast.Name(id=name), args=[part]):
                found = self._value(part, values)
                if name in _ELEMENTWISE or name in ("any", "all"):
                    return {**_REDUCTIONS, **_ELEMENTWISE}[name](found)
                finite = np.asarray(found)[np.isfinite(found)]
                return _REDUCTIONS[name](finite) if finite.size else np.nan
        raise AssertionError(ast.dump(node))

    def _computed(self, apply: Callable[..., Any], left: Any, right: Any) -> Any:
        try:
            return apply(left, right)
        except (ArithmeticError, ValueError) as why:
            raise self._wrong(f"cannot be computed: {why}") from why

"""A console for text that may hold what a terminal obeys."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from halcyon.visible_text import visible_lines


class VisibleConsole(Console):
    """A console that shows control characters of texts as escapes, and sends those of its own."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(visible_lines(piece.text), piece.style)

"""Text for a terminal. Names of files and programs come from elsewhere, and may hold what a terminal obeys."""

_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # text that runs the other way
_LINE_ENDS = (0x2028, 0x2029)
_OBEYED = (*range(0x20), *range(0x7F, 0xA0), *_DIRECTIONS, *_LINE_ENDS)
_VISIBLE = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in _OBEYED}
_VISIBLE_IN_LINES = {code: text for code, text in _VISIBLE.items() if chr(code) not in "\n\t"}


def visible(text: str) -> str:
    """Text of one line: control characters, ends of lines too, as escapes."""
    return text.translate(_VISIBLE)


def visible_lines(text: str) -> str:
    """Text of several lines: as `visible`, but for ends of lines and tabs."""
    return text.translate(_VISIBLE_IN_LINES)

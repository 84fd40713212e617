"""Files of text, read whole, of whatever size they claim to be."""

from pathlib import Path

from halcyon.errors import ConfigError

_PIECE = 1 << 20


def read_whole_text(path: Path) -> bytes:
    """The bytes of a file of text. ConfigError: it holds a zero byte, which no text has. OSError as `Path.read_bytes`.

    The first zero ends it: a damaged file, or one with a hole, may seem larger than any memory.
    """
    text = bytearray()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            if (zero := piece.find(b"\0")) >= 0:
                raise ConfigError(
                    f"{path}: byte {len(text) + zero} is zero, which no text has: damaged, or a file of another kind"
                )
            text += piece
    return bytes(text)

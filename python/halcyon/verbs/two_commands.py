"""Two commands behind the options of a verb: `-- A … -- B …`."""

from halcyon.errors import UsageError


def two_commands(words: list[str], verb: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """UsageError: there are not two."""
    places = [i for i, word in enumerate(words) if word == "--"]
    if len(places) != 1 or places[0] in (0, len(words) - 1):
        raise UsageError(f"two commands are needed, A and B: {verb} … -- A … -- B …")
    return tuple(words[: places[0]]), tuple(words[places[0] + 1 :])

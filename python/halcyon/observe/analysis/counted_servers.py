"""What each server was asked for, of a source that kept no calls: from the files' layouts and what was counted of each.

Which stripes a transfer touched is not known. A file's bytes are spread evenly over the servers that its extent
reaches, from its first stripe on.
"""

from halcyon.observe.analysis.counted import Counted
from halcyon.observe.analysis.files import File
from halcyon.observe.analysis.servers import Server, Servers, layouts_of


def counted_servers(known: Counted) -> Servers:
    """By name; one step of time, the whole run."""
    layouts = layouts_of(known.survey)
    names = sorted({name for _stripe, own in layouts.values() for name in own})
    found = {name: Server(name, 0, [0.0], [0.0]) for name in names}
    unknown = 0
    for file in known.files:
        if file.file in layouts:
            stripe, own = layouts[file.file]
            _spread(file, [found[name] for name in own[: _reached(file, stripe)]])
        else:
            unknown += file.bytes_read + file.bytes_written
    return Servers(known.survey.end_ns / 1e9, list(found.values()), unknown, counted=True)


def _reached(file: File, stripe: int) -> int | None:
    """On how many servers the file's bytes lie; None: on all of them, for nobody knows where it ends."""
    return None if file.high is None else -(-file.high // stripe)


def _spread(file: File, servers: list[Server]) -> None:
    """Adds the file to the load of each of its servers, to the byte."""
    for place, server in enumerate(servers):
        for load, moved in ((server.read, file.bytes_read), (server.written, file.bytes_written)):
            load[0] += moved // len(servers) + (place < moved % len(servers))
        server.files += bool(file.bytes_read or file.bytes_written)

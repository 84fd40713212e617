"""Files that ranks create, as text."""

from collections.abc import Sequence

from rich.console import Console

from halcyon.models.interference import Files
from halcyon.printed.tables import print_table


def print_files(rows: Sequence[Files], console: Console) -> None:
    told = [[f"{row.ranks:,}", f"{row.shared:,}", f"{row.one_per_rank:,}", f"{row.logs:,}"] for row in rows]
    columns = ["ranks", "shared file", "file per rank", "log per rank"]
    print_table(console, "Files created", columns, told, words=0, most=len(told), note="a log: data and index")

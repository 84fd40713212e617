"""`halcyon testbed down`"""

import argparse
import time

SUMMARY = "end the test bed, and everything that runs on it"
DESCRIPTION = "Ends all processes of the test bed. Its files, mounts, hosts and links vanish with them."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(arguments: argparse.Namespace) -> int:
    from halcyon.testbed.bed import take_down

    begin = time.monotonic()
    stood = take_down()
    print(f"down in {time.monotonic() - begin:.2f} s" if stood else "no test bed stands")
    return 0

"""Containers that are open when the process forks: the child has none of them.

Of two processes that wrote into one log, each would believe that it is alone. So the child forgets what its parent has
open, and no thread is in the middle of a read or write meanwhile, of which the child would have one half.
"""

import os
import threading
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from halcyon import _logfs

_opened: "weakref.WeakSet[_logfs.File]" = weakref.WeakSet()
_held: "list[_logfs.File]" = []
# Of threads that fork at a time, the second one would wait for what the first one holds.
_one_forks = threading.Lock()


def forget_in_children(file: "_logfs.File") -> None:
    """Registers a container that was opened."""
    _opened.add(file)


def _hold() -> None:
    _one_forks.acquire()
    for file in list(_opened):
        file.hold()
        _held.append(file)


def _let_go() -> None:
    while _held:
        _held.pop().let_go()
    _one_forks.release()


def _forget() -> None:
    global _one_forks
    _one_forks = threading.Lock()
    while _held:
        _held.pop().abandon()
    _opened.clear()


os.register_at_fork(before=_hold, after_in_parent=_let_go, after_in_child=_forget)

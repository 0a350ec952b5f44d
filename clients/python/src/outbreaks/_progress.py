"""Progress of downloads: a bar of tqdm if it is installed, or a function of the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from ._frames import require

Progress = bool | Callable[[int, int], None] | None
"""None: a bar if stderr is a terminal. True or False: a bar, or none. A function gets the bytes so far and in total."""


@contextmanager
def open_progress(progress: Progress, title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A function that is called with the number of bytes so far."""
    if callable(progress):
        yield lambda done: progress(done, total)
        return
    if progress is True:
        require("tqdm", "progress")
    if progress is not False and find_spec("tqdm") is not None:
        from tqdm import tqdm

        # tqdm shows nothing if `disable` is None and stderr is not a terminal.
        with tqdm(desc=title, total=total, unit="B", unit_scale=True, disable=False if progress else None) as bar:

            def show(done: int) -> None:
                bar.update(done - bar.n)

            yield show
        return
    yield lambda _: None

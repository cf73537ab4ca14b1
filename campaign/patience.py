"""A question with all its judges, within a time: no answer is waited for without end."""

from __future__ import annotations

import contextlib
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from campaign.judges import Tally
from pertinent.exceptions import PertinentError

#: Seconds of processor time for one question with all its judges; more is noted, and left.
PATIENCE = 40.0


class Late(Exception):
    """A question took longer than `PATIENCE`."""


def guarded(work: Callable[[Tally], None], about: str) -> Tally:
    """Return what judges noted; refusals, errors and what takes too long are noted, too."""
    tally = Tally()
    try:
        with at_most(PATIENCE), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            work(tally)
    except Late:
        tally.counts["took too long"] += 1
        tally.notes.append(f"more than {PATIENCE:g} s for {about}")
    except PertinentError as error:
        # A refusal with our own words is no answer, and no failure.
        tally.counts["refused"] += 1
        tally.notes.append(f"refused: {error}")
    except Exception as error:
        tally.counts["error"] += 1
        frames = traceback.extract_tb(error.__traceback__)
        ours = [f for f in frames if "pertinent" in f.filename or "campaign" in f.filename]
        where = " > ".join(f"{Path(f.filename).stem}.{f.name}" for f in ours[-6:])
        tally.fail("error", 0, f"{type(error).__name__}: {error} ({where})")
    return tally


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `Late` after so much time of this process, however busy the machine is."""

    def stop(*_: Any) -> None:
        raise Late

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)

"""The command ``citrange``: the same code as the one that cargo builds."""

from __future__ import annotations

import signal
import sys

from . import _citrange, _engine


def main() -> int:
    """Runs the command with the words of this process."""
    # As in any program of its own: what Python would do with these signals is not wanted.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    _engine.find()
    return _citrange.main(["citrange", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

"""The ``evenhand`` command (extra ``cli``)."""

from .command import Command
from .main import COMMANDS, evenhand, run

__all__ = ["COMMANDS", "Command", "evenhand", "run"]

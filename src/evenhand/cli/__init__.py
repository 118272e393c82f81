"""The ``evenhand`` command."""

from .command import COMMANDS
from .main import evenhand, run

"""The extensions of the documentation are tested if Sphinx is installed; it is in the extra docs."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("sphinx") else ["conf.py", "extensions"]

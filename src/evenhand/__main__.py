"""``python -m evenhand`` is the ``evenhand`` command."""

from .faces import main

main()

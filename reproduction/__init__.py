"""An exact reproduction of the paper: its figures, its tables, and a verdict on each of its claims.

Run it from a clone, with the extra ``reproduce`` installed::

    python -m reproduction --out results/

Where the paper draws a million random groups per point, the numbers here are exact expectations. Two runs with the same
options write identical files. It is a user of evenhand's public interface like any other.
"""

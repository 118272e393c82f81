"""Do rates vary between groups: false alarms, power against naming a group, and coverage of spreads.

Run it with ``.venv/bin/python benchmarks/variation.py``: two minutes. It prints the tables of
docs/reference/evidence.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import evenhand as eh
from evenhand.inference import equal_rates_pvalue, spread_interval

ALPHA, DRAWS = 0.05, 999
EQUAL = {
    "60 of 20, rate .3": ([20] * 60, 0.3),
    "60 of 20, rate .02": ([20] * 60, 0.02),
    "3 of 5, rate .5": ([5] * 3, 0.5),
    "40 of 5 beside one of 5,000, rate .1": ([5] * 40 + [5_000], 0.1),
    "20 of 100, rate .5 (chi-square)": ([100] * 20, 0.5),
    "3 of 5,000, rate .01 (chi-square)": ([5_000] * 3, 0.0101),
    "10 of 100 beside one of 100,000, rate .5 (chi-square)": ([100] * 10 + [100_000], 0.5),
}
VARYING = ((60, 20, 0.3, 0.10), (60, 40, 0.3, 0.06), (20, 40, 0.3, 0.08))
SPREADS: dict[str, tuple[list[int], Any]] = {
    "3 of 20: .1, .3, .5": ([20] * 3, [0.1, 0.3, 0.5]),
    "3 of 5: .01, .5, .9": ([5] * 3, [0.01, 0.5, 0.9]),
    "3 of 100: .01, .01, .1": ([100] * 3, [0.01, 0.01, 0.1]),
    "3 of 50: 0, 0, .1": ([50] * 3, [0, 0, 0.1]),
    "10, 100 and 1,000: .2, .3, .25": ([10, 100, 1_000], [0.2, 0.3, 0.25]),
    "5, 5 and 2,000: .9, .1, .3": ([5, 5, 2_000], [0.9, 0.1, 0.3]),
    "5 of 20: .5, one .9": ([20] * 5, [0.5] * 4 + [0.9]),
    "10 of 30: .21 to .39": ([30] * 10, np.linspace(0.21, 0.39, 10)),
    "10 of 50: .1, one .9": ([50] * 10, [0.1] * 9 + [0.9]),
    "10 of 5: .1, 10 of 200: .5": ([5] * 10 + [200] * 10, [0.1] * 10 + [0.5] * 10),
    "60 of 20: equal, .3": ([20] * 60, [0.3] * 60),
    "60 of 20: .1 to .5": ([20] * 60, np.linspace(0.1, 0.5, 60)),
    "60 of 40: .1 to .3": ([40] * 60, np.linspace(0.1, 0.3, 60)),
    "60 of 20: 50 of .01, 10 of .07": ([20] * 60, [0.01] * 50 + [0.07] * 10),
    "60 of 20: half 0, half 1": ([20] * 60, [0.0, 1.0] * 30),
    "100 of 20 beside 5,000: .3, .5; .4": ([20] * 100 + [5_000], [0.3, 0.5] * 50 + [0.4]),
    "1,000 of 20: .2 to .4": ([20] * 1_000, np.linspace(0.2, 0.4, 1_000)),
    "3,000 of 5: .1 or .2": ([5] * 3_000, [0.1, 0.2] * 1_500),
}


def main() -> None:
    rng = np.random.default_rng(20261120)
    print("| equal rates | p at most .05 | at most .005 |\n|---|---|---|")
    for name, (sizes, rate) in EQUAL.items():
        n = np.array(sizes)
        draws = rng.binomial(n, rate, (4_000, len(n)))
        p = np.array([equal_rates_pvalue(x, n, rng, DRAWS) for x in draws])
        print(f"| {name} | {100 * (p <= ALPHA).mean():.1f} | {100 * (p <= ALPHA / 10).mean():.2f} |")
    print("\n| groups | test of variation | a group is named |\n|---|---|---|")
    for groups, size, rate, sd in VARYING:
        found = np.zeros((200, 2))
        for i in range(len(found)):
            rates = np.clip(rng.normal(rate, sd, groups), 0, 1)
            x = rng.binomial(size, rates)
            counts = {f"g{g}": (int(k), size - int(k), 0, 0) for g, k in enumerate(x)}
            audit = eh.audit_counts(counts, metrics="tpr")
            found[i] = audit.variation[0].varies_adjusted <= ALPHA, any(row.differs for row in audit.rows)
        named = " | ".join(f"{100 * share:.0f}" for share in found.mean(axis=0))
        print(f"| {groups} of {size}, rate {rate}, s.d. {sd} | {named} |")
    print("\n| true rates | coverage | above the low end | below the high end |\n|---|---|---|---|")
    for name, (sizes, rates) in SPREADS.items():
        n, true = np.array(sizes), np.asarray(rates, dtype=float)
        weights = n / n.sum()
        spread = np.sqrt(weights @ (true - weights @ true) ** 2)
        ends = [spread_interval(x, n, 0.95) for x in rng.binomial(n, true, (2_000, len(n)))]
        low, high = np.array([one for one in ends if one[0] == one[0]]).T
        inside = low <= spread + 1e-12, high >= spread - 1e-9
        shares = [100 * np.mean(part) for part in (inside[0] & inside[1], *inside)]
        print(f"| {name} | {' | '.join(f'{share:.1f}' for share in shares)} |")


if __name__ == "__main__":
    main()

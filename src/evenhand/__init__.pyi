"""The public interface. This list is the only one: ``__init__.py`` reads it, and so do editors and type checkers."""

from . import (
    errors as errors,
    examples as examples,
    fairlearn as fairlearn,
    results as results,
    sklearn as sklearn,
)
from .auditing import (
    Audit as Audit,
    Monitor as Monitor,
    audit as audit,
    audit_counts as audit_counts,
    compare as compare,
)
from .confusion import (
    ConfusionMatrix as ConfusionMatrix,
    MulticlassConfusion as MulticlassConfusion,
    count_cell_value as count_cell_value,
    count_matrices as count_matrices,
    enumerate_matrices as enumerate_matrices,
)
from .distributions import distribution as distribution
from .errors import EvenhandError as EvenhandError
from .inference import (
    Additive as Additive,
    CrossPrior as CrossPrior,
    Raw as Raw,
    additive_smooth as additive_smooth,
    bias_variance as bias_variance,
    check_prior as check_prior,
    count_undefined as count_undefined,
    cross_prior_smooth as cross_prior_smooth,
    disparity as disparity,
    interval as interval,
    learn_strengths as learn_strengths,
    match_test as match_test,
    optimal_strength as optimal_strength,
    risk as risk,
    stress_test as stress_test,
    undefined_probability as undefined_probability,
    undefined_table as undefined_table,
)
from .metrics import (
    difference as difference,
    f_beta as f_beta,
    list_metrics as list_metrics,
    metric as metric,
    ratio as ratio,
)
from .planning import (
    detectable_difference as detectable_difference,
    exploitable_sizes as exploitable_sizes,
    jaggedness as jaggedness,
    power as power,
    sample_size as sample_size,
)

__all__: tuple[str, ...]
__version__: str

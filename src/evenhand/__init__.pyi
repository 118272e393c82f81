"""The public interface. This list is the only one: ``__init__.py`` reads it, and so do editors and type checkers."""

from . import examples as examples
from .auditing import (
    Audit as Audit,
)
from .auditing import (
    AverageRow as AverageRow,
)
from .auditing import (
    ClassAudit as ClassAudit,
)
from .auditing import (
    Finding as Finding,
)
from .auditing import (
    Row as Row,
)
from .auditing import (
    Settings as Settings,
)
from .auditing import (
    Sweep as Sweep,
)
from .auditing import (
    Verdict as Verdict,
)
from .auditing import (
    audit as audit,
)
from .auditing import (
    audit_classes as audit_classes,
)
from .auditing import (
    audit_counts as audit_counts,
)
from .cells import (
    ConfusionMatrix as ConfusionMatrix,
)
from .cells import (
    count_cell_value as count_cell_value,
)
from .cells import (
    count_matrices as count_matrices,
)
from .cells import (
    enumerate_matrices as enumerate_matrices,
)
from .errors import (
    EvenhandError as EvenhandError,
)
from .errors import (
    InvalidInput as InvalidInput,
)
from .errors import (
    MissingExtra as MissingExtra,
)
from .errors import (
    TooLarge as TooLarge,
)
from .errors import (
    UnknownName as UnknownName,
)
from .faces.figures import (
    plot_jaggedness as plot_jaggedness,
)
from .faces.figures import (
    plot_risk as plot_risk,
)
from .inference import (
    Additive as Additive,
)
from .inference import (
    BiasVariance as BiasVariance,
)
from .inference import (
    CrossPrior as CrossPrior,
)
from .inference import (
    Disparity as Disparity,
)
from .inference import (
    Estimator as Estimator,
)
from .inference import (
    Interval as Interval,
)
from .inference import (
    MatchResult as MatchResult,
)
from .inference import (
    PriorCheck as PriorCheck,
)
from .inference import (
    Raw as Raw,
)
from .inference import (
    Risk as Risk,
)
from .inference import (
    Smoothed as Smoothed,
)
from .inference import (
    Spread as Spread,
)
from .inference import (
    StressTest as StressTest,
)
from .inference import (
    UndefinedRow as UndefinedRow,
)
from .inference import (
    additive_smooth as additive_smooth,
)
from .inference import (
    bias_variance as bias_variance,
)
from .inference import (
    check_prior as check_prior,
)
from .inference import (
    count_undefined as count_undefined,
)
from .inference import (
    cross_prior_smooth as cross_prior_smooth,
)
from .inference import (
    disparity as disparity,
)
from .inference import (
    interval as interval,
)
from .inference import (
    learn_strengths as learn_strengths,
)
from .inference import (
    match_test as match_test,
)
from .inference import (
    monte_carlo_risk as monte_carlo_risk,
)
from .inference import (
    optimal_strength as optimal_strength,
)
from .inference import (
    risk as risk,
)
from .inference import (
    risk_curve as risk_curve,
)
from .inference import (
    smoothing_helps as smoothing_helps,
)
from .inference import (
    stress_test as stress_test,
)
from .inference import (
    undefined_cases as undefined_cases,
)
from .inference import (
    undefined_probability as undefined_probability,
)
from .inference import (
    undefined_table as undefined_table,
)
from .interop import (
    Aggregate as Aggregate,
)
from .interop import (
    ControlledAudit as ControlledAudit,
)
from .interop import (
    GroupChange as GroupChange,
)
from .interop import (
    GroupSummaries as GroupSummaries,
)
from .interop import (
    LevelAudit as LevelAudit,
)
from .interop import (
    ModelComparison as ModelComparison,
)
from .interop import (
    ModelComparisons as ModelComparisons,
)
from .interop import (
    PooledRow as PooledRow,
)
from .interop import (
    ReportedClass as ReportedClass,
)
from .interop import (
    SmallSampleReport as SmallSampleReport,
)
from .interop import (
    StratifiedTest as StratifiedTest,
)
from .interop import (
    Stratum as Stratum,
)
from .interop import (
    audit_within as audit_within,
)
from .interop import (
    compare_models as compare_models,
)
from .interop import (
    compare_several_models as compare_several_models,
)
from .interop import (
    frame_counts as frame_counts,
)
from .interop import (
    frame_metric as frame_metric,
)
from .interop import (
    from_metric_frame as from_metric_frame,
)
from .interop import (
    scorer as scorer,
)
from .interop import (
    small_sample_report as small_sample_report,
)
from .interop import (
    stratified_test as stratified_test,
)
from .interop import (
    summaries as summaries,
)
from .laws import (
    Distribution as Distribution,
)
from .laws import (
    distribution as distribution,
)
from .metrics import (
    Metric as Metric,
)
from .metrics import (
    difference as difference,
)
from .metrics import (
    f_beta as f_beta,
)
from .metrics import (
    list_metrics as list_metrics,
)
from .metrics import (
    metric as metric,
)
from .metrics import (
    ratio as ratio,
)
from .multiclass import (
    ClassScores as ClassScores,
)
from .multiclass import (
    MulticlassConfusion as MulticlassConfusion,
)
from .multiclass import (
    MulticlassMatch as MulticlassMatch,
)
from .multiclass import (
    MulticlassScore as MulticlassScore,
)
from .multiclass import (
    SmoothedClasses as SmoothedClasses,
)
from .multiclass import (
    class_scores as class_scores,
)
from .multiclass import (
    count_undefined_classes as count_undefined_classes,
)
from .multiclass import (
    multiclass_match as multiclass_match,
)
from .multiclass import (
    multiclass_score as multiclass_score,
)
from .planning import (
    DetectableDifference as DetectableDifference,
)
from .planning import (
    ExploitableSizes as ExploitableSizes,
)
from .planning import (
    Jaggedness as Jaggedness,
)
from .planning import (
    Power as Power,
)
from .planning import (
    SampleSize as SampleSize,
)
from .planning import (
    detectable_difference as detectable_difference,
)
from .planning import (
    exploitable_sizes as exploitable_sizes,
)
from .planning import (
    jaggedness as jaggedness,
)
from .planning import (
    power as power,
)
from .planning import (
    sample_size as sample_size,
)
from .scores import (
    AreaUnderCurve as AreaUnderCurve,
)
from .scores import (
    EffectiveCounts as EffectiveCounts,
)
from .scores import (
    EffectiveGroup as EffectiveGroup,
)
from .scores import (
    ScoreAudit as ScoreAudit,
)
from .scores import (
    ScoreRow as ScoreRow,
)
from .scores import (
    ScoreTest as ScoreTest,
)
from .scores import (
    auc as auc,
)
from .scores import (
    auc_test as auc_test,
)
from .scores import (
    audit_callable as audit_callable,
)
from .scores import (
    audit_scores as audit_scores,
)
from .scores import (
    effective_counts as effective_counts,
)

__version__: str

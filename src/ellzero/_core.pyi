from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

SPAN: float

def take_wide_lanes(wide: bool) -> bool: ...

class Columns:
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def entries(self) -> float: ...
    def read(self, j: int, row: int, rows: int) -> _Floats: ...
    def read_rows(self, j: int, which: _Integers) -> _Floats: ...
    def products(
        self,
        mean: _Floats,
        inverse_scale: _Floats,
        root_weight: _Floats | None,
        v: _Floats,
        threads: int,
    ) -> _Floats: ...

def dense_columns(x: NDArray[np.floating]) -> Columns: ...
def source_columns(reader: Any, rows: int, columns: int, block_columns: int) -> Columns: ...
def source_rows(columns: Columns, rows: _Integers) -> Columns: ...
def return_memory() -> None: ...
def chosen_rows(x: NDArray[np.floating], rows: _Integers) -> Columns: ...
def panel_columns(x: NDArray[np.floating], rows: _Integers) -> Columns: ...
def panels_of(x: NDArray[np.floating], parts: list[_Integers]) -> list[Columns]: ...
def sparse_columns(
    values: NDArray[np.floating],
    row_of: NDArray[np.integer],
    begins: NDArray[np.integer],
    rows: int,
) -> Columns: ...
def genotype_columns(packed: NDArray[np.uint8], rows: int, fill: _Floats) -> Columns: ...
def genotype_counts(packed: NDArray[np.uint8], rows: int, threads: int) -> _Integers: ...
def genotype_rows(
    packed: NDArray[np.uint8], rows: int, which: _Integers, threads: int
) -> NDArray[np.uint8]: ...

class Quadratic:
    @property
    def columns(self) -> int: ...
    @property
    def mean(self) -> _Floats: ...
    @property
    def inverse_scale(self) -> _Floats: ...
    @property
    def zy(self) -> _Floats: ...
    @property
    def yy(self) -> float: ...
    @property
    def mean_y(self) -> float: ...
    @property
    def weight(self) -> float: ...
    @property
    def columns_made(self) -> int: ...
    @property
    def columns_held(self) -> int: ...
    @property
    def passes(self) -> int: ...
    def cross_products(self, which: _Integers) -> _Floats: ...
    def drop_columns(self) -> None: ...
    def keep_in(self, path: str) -> None: ...

def source_quadratics(
    columns: list[Columns],
    y: list[_Floats],
    weights: list[_Floats | None],
    centred: bool,
    cache_bytes: float,
    threads: int,
) -> list[Quadratic]: ...
def row_quadratic(
    columns: Columns,
    y: _Floats,
    weights: _Floats | None,
    centred: bool,
    cache_bytes: float,
    threads: int,
    products: _Floats | None = None,
) -> Quadratic: ...
def statistics_quadratic(
    xx: _Floats,
    xy: _Floats,
    yy: float,
    mean_x: _Floats,
    mean_y: float,
    weight: float,
    cache_bytes: float,
) -> Quadratic: ...
def block_products(
    table: NDArray[np.floating] | None,
    columns: list[NDArray[np.floating]],
    middle: _Floats,
    fold: _Integers | None,
    root_weight: _Floats | None,
    out: _Floats,
) -> _Floats: ...
def merge_products(one: _Floats, other: _Floats, v: _Floats, factor: float) -> None: ...
def mirror_triangle(packed: _Floats, out: _Floats) -> None: ...

class ProjectedQuadratic(Quadratic):
    @property
    def kept(self) -> _Integers: ...
    @property
    def left(self) -> _Floats: ...
    @property
    def beta(self) -> _Floats: ...
    @property
    def root(self) -> _Floats: ...
    @property
    def along(self) -> _Floats: ...

def project(
    base: Quadratic, columns: _Integers, cache_bytes: float, threads: int
) -> ProjectedQuadratic: ...

class ColumnPasses: ...

class Parts(ColumnPasses):
    @property
    def passes(self) -> int: ...
    def keep_in(self, path: str) -> None: ...

def make_parts(
    quadratics: list[Quadratic], memory_bound: float, owner: Any = None, at_once: bool = False
) -> Parts: ...
def pooled_quadratic(parts: Parts, which: _Integers, cache_bytes: float) -> Quadratic: ...

class AllRows(ColumnPasses): ...

def all_rows(
    quadratic: Quadratic,
    columns: Columns,
    y: _Floats,
    weights: _Floats | None,
    centred: bool,
    threads: int,
) -> AllRows: ...
def remaining_quadratic(
    all: AllRows, left_out: Columns, which: _Integers, cache_bytes: float
) -> Quadratic | None: ...

class HeldOut:
    @property
    def weight(self) -> float: ...
    def error(self, design: Quadratic, support: _Integers, beta: _Floats) -> float: ...
    def verdicts(
        self, design: Quadratic, supports: list[_Integers], betas: list[_Floats]
    ) -> _Floats: ...
    def residuals(self, design: Quadratic, support: _Integers, beta: _Floats) -> _Floats: ...

def held_out(
    columns: list[Columns],
    parts: _Integers,
    places: _Integers,
    y: _Floats,
    weights: _Floats | None,
) -> HeldOut: ...
def hold_out_all(columns: Columns, y: _Floats, weights: _Floats | None) -> HeldOut: ...
def held_out_statistics(rows: Quadratic) -> HeldOut: ...
def lower_hull(
    energies: _Floats, next_energy: float, floor: float
) -> tuple[_Integers, _Floats, float]: ...

class FoldPath:
    def __init__(
        self,
        lambdas: _Floats,
        end: float,
        sizes: _Floats | _Integers,
        errors: _Floats,
        along: _Floats,
        square: _Floats,
        weight: float,
    ) -> None: ...
    @property
    def lambdas(self) -> _Floats: ...
    @property
    def end(self) -> float: ...
    @property
    def sizes(self) -> _Floats: ...
    @property
    def errors(self) -> _Floats: ...
    @property
    def along(self) -> _Floats: ...
    @property
    def square(self) -> _Floats: ...
    @property
    def weight(self) -> float: ...

def errors_of_nothing(paths: list[FoldPath]) -> _Floats: ...
def intervals_of(paths: list[FoldPath]) -> tuple[_Floats, _Floats]: ...

class FoldTable:
    def __init__(self, paths: list[FoldPath], low: _Floats) -> None: ...
    @property
    def share(self) -> _Floats: ...
    @property
    def mean_sizes(self) -> _Floats: ...
    @property
    def errors(self) -> _Floats: ...
    @property
    def along(self) -> _Floats: ...
    @property
    def square(self) -> _Floats: ...
    def mean_and_error(
        self, values: _Floats, base: _Floats | None = None
    ) -> tuple[_Floats, _Floats]: ...

def best_factors(
    repeats: list[FoldTable], nothing: list[_Floats], factors: _Floats, cautiously: bool
) -> _Floats: ...

class FoldModels:
    @property
    def begins(self) -> _Integers: ...
    @property
    def support(self) -> _Integers: ...
    @property
    def beta(self) -> _Floats: ...
    @property
    def energies(self) -> _Floats: ...
    @property
    def errors(self) -> _Floats: ...
    @property
    def along(self) -> _Floats: ...
    @property
    def square(self) -> _Floats: ...
    @property
    def predictors(self) -> _Floats: ...
    def path(self, factor: float, weight: float) -> FoldPath: ...
    @property
    def next_gain(self) -> float: ...
    @property
    def lows(self) -> _Floats: ...
    @property
    def rounding(self) -> float: ...

class Folds:
    def __init__(
        self,
        designs: list[Quadratic],
        held_out: list[HeldOut],
        shared: ColumnPasses | None,
        sbr: bool,
        ridge: float,
        forced: _Integers,
        threads: int,
        pass_threads: int,
        begun: list[tuple[Folds, int] | None] = ...,
    ) -> None: ...
    def search(
        self,
        max_size: int,
        progress: Callable[[int], None] | None,
        neighbour: Folds | None = None,
    ) -> None: ...
    def judge(self) -> list[FoldModels]: ...
    def keep_for_others(self, fold: int) -> None: ...

class Coefficients:
    @property
    def support(self) -> _Integers: ...
    @property
    def beta(self) -> _Floats: ...
    @property
    def removal_cost(self) -> _Floats: ...
    @property
    def inverse_scale(self) -> _Floats: ...
    @property
    def mean(self) -> _Floats: ...
    @property
    def rss(self) -> float: ...
    @property
    def ridge_energy(self) -> float: ...
    @property
    def intercept(self) -> float: ...

class AllCoefficients:
    @property
    def support(self) -> _Integers: ...
    @property
    def beta(self) -> _Floats: ...
    @property
    def removal_cost(self) -> _Floats: ...
    @property
    def inverse_scale(self) -> _Floats: ...
    @property
    def mean(self) -> _Floats: ...
    @property
    def begins(self) -> _Integers: ...
    @property
    def rss(self) -> _Floats: ...
    @property
    def ridge_energy(self) -> _Floats: ...
    @property
    def intercept(self) -> _Floats: ...

class SizedModel:
    @property
    def support(self) -> _Integers: ...
    @property
    def energy(self) -> float: ...

class Insertion:
    @property
    def unit(self) -> int: ...
    @property
    def gain(self) -> float: ...

class SbrRun:
    @property
    def replacements(self) -> int: ...
    @property
    def held_back(self) -> Insertion: ...
    @property
    def lam_low(self) -> float: ...
    @property
    def lam_high(self) -> float: ...

class SbrStop:
    @property
    def support(self) -> _Integers: ...
    @property
    def energy(self) -> float: ...
    @property
    def loss(self) -> float: ...
    @property
    def lam_low(self) -> float: ...
    @property
    def lam_high(self) -> float: ...

class SbrPath:
    @property
    def stops(self) -> list[SbrStop]: ...
    @property
    def replacements(self) -> int: ...
    @property
    def next_gain(self) -> float: ...
    @property
    def held_back(self) -> bool: ...

class Engine:
    def insert(self, j: int, /) -> bool: ...
    def flip(self, j: int, /) -> bool: ...
    def refresh(self) -> None: ...
    def move_to(self, target: _Integers) -> None: ...
    def start_at(self, target: _Integers) -> None: ...
    def exclude(self, j: int, /) -> None: ...
    def allow(self, j: int, /) -> None: ...
    def drop_unused_columns(self) -> None: ...
    def gram_columns(self, which: _Integers) -> _Floats: ...
    @property
    def members(self) -> _Integers: ...
    @property
    def energy(self) -> float: ...
    @property
    def rounding(self) -> float: ...
    @property
    def d(self) -> _Floats: ...
    @property
    def columns_made(self) -> int: ...
    @property
    def columns_held(self) -> int: ...
    @property
    def passes(self) -> int: ...
    def insertion_gains(self) -> _Floats: ...
    def best_insertions(self, count: int) -> list[Insertion]: ...
    def nearly_dependent(self, least: float) -> bool: ...
    def removal_costs(self) -> _Floats: ...
    def swap_gains(self) -> _Floats: ...
    def sbr(
        self,
        lam: float,
        forced: NDArray[np.bool_] | None,
        max_size: int,
        progress: Callable[[int], None] | None,
    ) -> SbrRun: ...
    def sbr_path(
        self,
        forced: NDArray[np.bool_] | None,
        max_size: int,
        progress: Callable[[int], None] | None,
    ) -> SbrPath: ...
    def solution(self) -> Coefficients: ...

class LeastSquares(Engine):
    def __init__(self, design: Quadratic, ridge: _Floats, threads: int) -> None: ...
    @property
    def beta(self) -> _Floats: ...
    @property
    def log_determinant(self) -> float: ...
    @property
    def c(self) -> _Floats: ...

def screening_pays(rows: int, columns: int, entries: int) -> bool: ...

class ScreenedSquares(Engine):
    def __init__(self, design: Quadratic, ridge: _Floats, threads: int) -> None: ...
    @staticmethod
    def pays(design: Quadratic) -> bool: ...
    @property
    def beta(self) -> _Floats: ...
    @property
    def log_determinant(self) -> float: ...
    @property
    def c(self) -> _Floats: ...
    @property
    def active(self) -> int: ...

def sifting_pays_in_folds(rows: int, columns: int) -> bool: ...

class SiftedSquares(Engine):
    def __init__(self, design: Quadratic, ridge: _Floats, threads: int) -> None: ...
    @staticmethod
    def pays(design: Quadratic) -> bool: ...
    @property
    def beta(self) -> _Floats: ...
    @property
    def log_determinant(self) -> float: ...
    @property
    def c(self) -> _Floats: ...
    @property
    def sifts(self) -> bool: ...

class Rows:
    def predict(
        self, support: _Integers, beta: _Floats, intercept: float, which: _Integers
    ) -> _Floats: ...

def make_rows(
    columns: Columns,
    design: Quadratic,
    loss: str,
    y: _Floats,
    offset: _Floats | None,
    intercept: bool,
) -> Rows: ...

class Likelihood(Engine):
    def __init__(self, rows: Rows, weights: _Floats, ridge: float, threads: int) -> None: ...
    @property
    def null_energy(self) -> float: ...
    @property
    def largest_error(self) -> float: ...
    @property
    def farthest(self) -> float: ...

class LikelihoodFolds:
    def __init__(
        self,
        rows: list[Rows],
        weights: list[_Floats],
        tests: list[_Integers],
        sbr: bool,
        ridge: float,
        forced: _Integers,
        threads: int,
        pass_threads: int,
    ) -> None: ...
    def search(
        self,
        max_size: int,
        progress: Callable[[int], None] | None,
        neighbour: LikelihoodFolds | None = None,
    ) -> None: ...
    def judge(self) -> list[FoldModels]: ...

class GroupSolution:
    @property
    def support(self) -> _Integers: ...
    @property
    def beta(self) -> _Floats: ...
    @property
    def inverse_scale(self) -> _Floats: ...
    @property
    def mean(self) -> _Floats: ...
    @property
    def units(self) -> _Integers: ...
    @property
    def ranks(self) -> _Integers: ...
    @property
    def removal_cost(self) -> _Floats: ...
    @property
    def intercept(self) -> float: ...
    @property
    def columns(self) -> int: ...
    @property
    def rss(self) -> float: ...
    @property
    def ridge_energy(self) -> float: ...

class GroupCoefficients:
    @property
    def support(self) -> _Integers: ...
    @property
    def beta(self) -> _Floats: ...
    @property
    def intercept(self) -> float: ...
    @property
    def rss(self) -> float: ...
    @property
    def columns(self) -> int: ...

class UnitEngine:
    @property
    def members(self) -> _Integers: ...
    @property
    def energy(self) -> float: ...
    @property
    def rounding(self) -> float: ...
    @property
    def rank(self) -> int: ...
    @property
    def widths(self) -> _Integers: ...
    def flip(self, unit: int) -> bool: ...
    def move_to(self, units: _Integers) -> None: ...
    def start_at(self, units: _Integers) -> None: ...
    def refresh(self) -> None: ...
    def solution_of(self, units: _Integers) -> GroupSolution: ...
    def insertion_gains(self) -> _Floats: ...
    def removal_costs(self) -> _Floats: ...
    def gains_without(self, lowering: bool = ...) -> _Floats: ...
    def joint_gain(self, units: _Integers, above: float = ...) -> float: ...
    def joint_removal_cost(self, units: _Integers) -> float: ...
    def sbr(
        self,
        lam: float,
        forced: Sequence[bool],
        max_size: int,
        progress: Callable[[int], None] | None,
    ) -> SbrRun: ...

class GroupEngine(UnitEngine):
    def __init__(
        self,
        design: Quadratic,
        begins: _Integers,
        columns: _Integers,
        ridge: float,
        cache_bytes: float,
        threads: int,
    ) -> None: ...
    def coefficients_of(self, units: _Integers) -> GroupCoefficients: ...

class GroupLikelihood(UnitEngine):
    def __init__(
        self,
        rows: Rows,
        weights: _Floats,
        begins: _Integers,
        columns: _Integers,
        ridge: float,
        cache_bytes: float,
        threads: int,
    ) -> None: ...
    @property
    def null_energy(self) -> float: ...
    @property
    def largest_error(self) -> float: ...
    @property
    def farthest(self) -> float: ...

class GroupModel:
    @property
    def units(self) -> _Integers: ...
    @property
    def size(self) -> int: ...
    @property
    def price(self) -> float: ...
    @property
    def energy(self) -> float: ...

class GroupFrontier:
    def __init__(
        self,
        engine: UnitEngine,
        *,
        forced: Sequence[bool],
        price: Sequence[float],
        by_columns: bool,
        parent_begins: _Integers,
        parents: _Integers,
        strong: bool,
        caps: Sequence[tuple[Sequence[int], int]],
        signs: Sequence[int],
        swaps: bool,
    ) -> None: ...
    @property
    def tried(self) -> int: ...
    def grow(self, max_size: int, progress: Callable[[int], None] | None) -> None: ...
    def models(self) -> list[GroupModel]: ...
    def hull(self) -> list[GroupModel]: ...

class Frontier:
    def __init__(self, engine: Engine, forced: NDArray[np.bool_] | None, swaps: bool) -> None: ...
    def grow(
        self,
        max_size: int,
        progress: Callable[[int], None] | None,
        neighbour: Frontier | None = None,
    ) -> None: ...
    @property
    def tried(self) -> int: ...
    def visit(self, size: int) -> None: ...
    def models(self) -> list[SizedModel]: ...
    @property
    def energies(self) -> _Floats: ...
    @property
    def largest(self) -> _Integers: ...
    def solutions(self) -> AllCoefficients: ...

class Slab(Enum):
    gaussian = ...
    laplace = ...
    zellner = ...
    boom = ...

class Variance:
    learned: bool
    value: float
    shape: float
    rate: float
    relative: bool

class SpikeSlabPrior:
    slab: Slab
    noise: Variance
    slab_variance: Variance
    learn_theta: bool
    theta_a: float
    theta_b: float
    log_odds: list[float]
    scales: list[float]
    degrees: float
    g: float
    information: float
    diagonal: float

class Schedule:
    warmup: int
    draws: int
    thin: int
    tempered: bool
    batch: int
    within: int
    stop: int
    states: list[dict[str, NDArray[Any]]]
    @property
    def stretch(self) -> int: ...

class EnumeratedPosterior:
    @property
    def draws(self) -> dict[str, Any]: ...
    @property
    def masses(self) -> _Floats: ...
    @property
    def log_evidence(self) -> float: ...

class ModeFound:
    @property
    def support(self) -> _Integers: ...
    @property
    def log_posterior(self) -> float: ...

def sample_spike_slab(
    design: Quadratic,
    prior: SpikeSlabPrior,
    starts: list[list[int]],
    reference: list[float],
    seed: int,
    schedule: Schedule,
    threads: int,
    progress: Callable[[int], None] | None,
    modes: list[list[int]] = ...,
    active: list[int] = ...,
) -> list[dict[str, Any]]: ...
def enumerate_spike_slab(
    design: Quadratic,
    prior: SpikeSlabPrior,
    reference: list[float],
    draws: int,
    seed: int,
    threads: int,
) -> EnumeratedPosterior: ...
def climb_spike_slab(
    design: Quadratic,
    prior: SpikeSlabPrior,
    starts: list[list[int]],
    swaps: bool,
    threads: int,
) -> list[ModeFound]: ...
def search_modes(
    design: Quadratic,
    prior: SpikeSlabPrior,
    starts: list[list[int]],
    climbs: int,
    depth: float,
    modes: int,
    threads: int,
) -> list[ModeFound]: ...

class GroupModeFound:
    @property
    def units(self) -> _Integers: ...
    @property
    def columns(self) -> _Integers: ...
    @property
    def beta(self) -> _Floats: ...
    @property
    def log_posterior(self) -> float: ...

class GroupPosterior:
    def __init__(
        self,
        design: Quadratic,
        groups: list[list[int]],
        shared: bool,
        prior: SpikeSlabPrior,
        parents: list[list[int]],
        strong: bool,
        cache_bytes: float,
    ) -> None: ...
    @property
    def widths(self) -> _Integers: ...
    def climb(self, start: list[int], threads: int) -> GroupModeFound: ...
    def search_modes(
        self,
        starts: list[list[int]],
        tau: float,
        climbs: int,
        depth: float,
        modes: int,
        threads: int,
    ) -> list[ModeFound]: ...
    def sample(
        self,
        starts: list[list[int]],
        reference: list[float],
        seed: int,
        schedule: Schedule,
        threads: int,
        progress: Callable[[int], None] | None,
        modes: list[list[int]] = ...,
    ) -> list[dict[str, Any]]: ...
    def enumerate(
        self, reference: list[float], draws: int, seed: int, threads: int
    ) -> EnumeratedPosterior: ...

class LogitRows: ...

def make_logit_rows(
    columns: Columns,
    design: Quadratic,
    counts: _Floats,
    successes: _Floats,
    intercept: bool,
    room_bytes: float,
    norms: list[float] = ...,
) -> LogitRows: ...

class LogitPrior:
    slab_variance: Variance
    intercept_precision: float
    learn_theta: bool
    theta_a: float
    theta_b: float
    log_odds: list[float]

class LogitStart:
    support: list[int]
    beta: list[float]
    intercept: float

class EnumeratedLogit:
    @property
    def draws(self) -> dict[str, Any]: ...
    @property
    def masses(self) -> _Floats: ...
    @property
    def error(self) -> _Floats: ...
    @property
    def log_evidence(self) -> float: ...

def sample_logit_spike_slab(
    rows: LogitRows,
    prior: LogitPrior,
    starts: list[LogitStart],
    reference: list[float],
    seed: int,
    schedule: Schedule,
    threads: int,
    progress: Callable[[int], None] | None,
) -> list[dict[str, Any]]: ...
def sample_logit_groups(
    rows: LogitRows,
    prior: LogitPrior,
    columns: list[list[int]],
    log_odds: list[float],
    parents: list[list[int]],
    strong: bool,
    starts: list[list[int]],
    seed: int,
    schedule: Schedule,
    threads: int,
    progress: Callable[[int], None] | None,
) -> list[dict[str, Any]]: ...
def enumerate_logit_spike_slab(
    rows: LogitRows,
    prior: LogitPrior,
    reference: list[float],
    draws: int,
    seed: int,
    tolerance: float,
    threads: int,
) -> EnumeratedLogit: ...

class StudentRows: ...

def make_student_rows(
    columns: Columns,
    design: Quadratic,
    counts: _Floats,
    y: _Floats,
    intercept: bool,
    room_bytes: float,
    norms: list[float] = ...,
) -> StudentRows: ...

class DegreesPrior:
    learned: bool
    value: float
    shape: float
    rate: float
    least: float

def sample_student_spike_slab(
    rows: StudentRows,
    prior: SpikeSlabPrior,
    degrees: DegreesPrior,
    unit: float,
    starts: list[LogitStart],
    reference: list[float],
    seed: int,
    schedule: Schedule,
    threads: int,
    progress: Callable[[int], None] | None,
    modes: list[list[int]] = ...,
) -> list[dict[str, Any]]: ...
def draw_polya_gamma(n: int, z: float, count: int, seed: int) -> _Floats: ...

class Segmented:
    @property
    def changepoints(self) -> _Integers: ...
    @property
    def signal(self) -> _Floats: ...
    @property
    def jumps(self) -> _Floats: ...
    @property
    def minima(self) -> _Floats: ...
    @property
    def loss(self) -> float: ...

def segment(
    series: list[_Floats],
    weights: list[_Floats | None],
    lams: _Floats,
    decays: _Floats,
    phis: _Floats,
    positive: bool,
    solver: str,
    want_signal: bool,
    want_minima: bool,
    threads: int,
) -> list[Segmented]: ...
def fit_segments(
    y: _Floats,
    weights: _Floats | None,
    lam: float,
    decay: float,
    phi: float,
    positive: bool,
    changepoints: _Integers,
    tidied: bool,
) -> Segmented: ...

class JumpLocations:
    @property
    def first(self) -> _Integers: ...
    @property
    def last(self) -> _Integers: ...

def jump_locations(
    y: _Floats,
    weights: _Floats | None,
    decay: float,
    phi: float,
    changepoints: _Integers,
    slack: float,
) -> JumpLocations: ...

class LaplaceMeans:
    def __init__(self, rate: float, /) -> None: ...
    @property
    def series_end(self) -> float: ...
    def terms(self, u: _Floats) -> tuple[_Floats, _Floats, _Floats, _Floats]: ...
    def variance(self, u: _Floats) -> _Floats: ...

def mills_sequence(a: float, count: int, unit: float, /) -> _Floats: ...
def piecewise_rule(x: _Floats, knots: _Floats, slopes: _Floats, shifts: _Floats) -> _Floats: ...

class BridgePrior:
    learn_alpha: bool
    least_alpha: float
    greatest_alpha: float
    alpha: float
    learn_tau: bool
    tau: float
    nu_shape: float
    nu_rate: float

class HorseshoePrior:
    learn_tau: bool
    tau: float
    tau_scale: float
    regularised: bool
    slab_df: float
    slab_scale: float

class ScaleMixturePrior:
    is_horseshoe: bool
    bridge: BridgePrior
    horseshoe: HorseshoePrior
    noise: Variance
    degrees: float

def sample_scale_mixture(
    design: Quadratic,
    prior: ScaleMixturePrior,
    chains: int,
    warmup: int,
    draws: int,
    seed: int,
    threads: int,
    start: _Floats | None = None,
    s2: float = 1.0,
    alpha: float = 0.5,
    tau: float = 1.0,
    by_rows: bool | None = None,
    progress: Callable[[int], None] | None = None,
    slab: float = 1.0,
    stop: int = -1,
    states: list[dict[str, NDArray[Any]]] = ...,
    sweeps: int = -1,
) -> list[dict[str, Any]]: ...
def draw_gaussian(
    design: Quadratic,
    ratio: _Floats,
    factor: float,
    s2: float,
    draws: int,
    by_rows: bool,
    seed: int,
) -> tuple[_Floats, float, float]: ...
def draw_tilted_stable(index: float, log_tilt: float, count: int, seed: int) -> _Floats: ...
def draw_horseshoe_precision(x: float, count: int, seed: int) -> _Floats: ...
def log_scaled_e1(x: float) -> float: ...
def draw_regularised_precision(x: float, e: float, count: int, seed: int) -> _Floats: ...
def visit_scales(
    design: Quadratic, h: _Floats, then: _Floats
) -> tuple[NDArray[np.int64], _Floats, _Floats, _Floats]: ...
def draw_horseshoe_scale(
    a: float, c: float, s2: float, unit: float, ridge: float, count: int, seed: int
) -> _Floats: ...
def draw_bridge_coefficient(m: float, t: float, alpha: float, count: int, seed: int) -> _Floats: ...

class NodeEnd(Enum):
    OPEN = 0
    CLOSED = 1
    BRANCHED = 2

class ProofStep:
    @property
    def columns(self) -> NDArray[np.int32]: ...
    @property
    def n_in(self) -> int: ...
    @property
    def d(self) -> NDArray[np.float32]: ...
    @property
    def u(self) -> _Floats: ...
    @property
    def u_low(self) -> _Floats: ...
    @property
    def fixed_in(self) -> NDArray[np.int32]: ...
    @property
    def fixed_out(self) -> NDArray[np.int32]: ...

class ProofNode:
    @property
    def parent(self) -> int: ...
    @property
    def column(self) -> int: ...
    @property
    def inside(self) -> bool: ...
    @property
    def end(self) -> NodeEnd: ...
    @property
    def steps(self) -> list[ProofStep]: ...

class ProofFit:
    @property
    def b(self) -> _Floats: ...
    @property
    def value(self) -> float: ...

class Proof:
    def __init__(
        self,
        gram: _Floats,
        c: _Floats,
        half_yy: float,
        price: _Floats,
        cap: int,
        floor: float,
    ) -> None: ...
    def run(
        self,
        *,
        inside: _Integers,
        free: _Integers,
        support: _Integers,
        objective: float,
        tolerance: float,
        gap: float,
        seconds: float,
        max_nodes: int,
        max_open: int,
        record_bytes: float,
        barrier: float,
        nu: float,
        wide: int,
        enumerate: bool,
        progress: Callable[[int, float, float], None] | None,
    ) -> None: ...
    def fit(self, support: _Integers) -> ProofFit: ...
    @property
    def bound(self) -> float: ...
    @property
    def objective(self) -> float: ...
    @property
    def support(self) -> NDArray[np.int32]: ...
    @property
    def nodes(self) -> int: ...
    @property
    def open(self) -> int: ...
    @property
    def unresolved(self) -> int: ...
    @property
    def newton_steps(self) -> int: ...
    @property
    def recorded(self) -> bool: ...
    @property
    def in_margin(self) -> _Floats: ...
    @property
    def out_margin(self) -> _Floats: ...
    @property
    def record(self) -> list[ProofNode]: ...

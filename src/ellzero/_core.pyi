from collections.abc import Callable
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]

SPAN: float

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
def panel_columns(x: NDArray[np.floating], rows: _Integers) -> Columns: ...
def sparse_columns(
    values: NDArray[np.floating],
    row_of: NDArray[np.integer],
    begins: NDArray[np.integer],
    rows: int,
) -> Columns: ...

class Design:
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

def row_quadratic(
    columns: Columns,
    y: _Floats,
    weights: _Floats | None,
    centred: bool,
    cache_bytes: float,
    threads: int,
) -> Design: ...
def statistics_quadratic(
    xx: _Floats,
    xy: _Floats,
    yy: float,
    mean_x: _Floats,
    mean_y: float,
    weight: float,
    cache_bytes: float,
) -> Design: ...

class Parts:
    @property
    def passes(self) -> int: ...

def make_parts(quadratics: list[Design], memory_bound: float) -> Parts: ...
def pooled_quadratic(parts: Parts, which: _Integers, cache_bytes: float) -> Design: ...

class HeldOut:
    @property
    def weight(self) -> float: ...
    def error(self, design: Design, support: _Integers, beta: _Floats) -> float: ...

def held_out(
    columns: list[Columns],
    parts: _Integers,
    places: _Integers,
    y: _Floats,
    weights: _Floats | None,
) -> HeldOut: ...

class Folds:
    def __init__(
        self,
        designs: list[Design],
        held_out: list[HeldOut],
        parts: Parts | None,
        sbr: bool,
        ridge: float,
        forced: _Integers,
        threads: int,
        pass_threads: int,
    ) -> None: ...
    def search(self, max_size: int, progress: Callable[[int], None] | None) -> None: ...
    def judge(
        self,
    ) -> list[tuple[_Integers, _Integers, _Floats, _Floats, float, _Floats]]: ...

class Engine:
    def __init__(self, design: Design, ridge: _Floats, threads: int) -> None: ...
    def insert(self, j: int, /) -> bool: ...
    def flip(self, j: int, /) -> bool: ...
    def refresh(self) -> None: ...
    def move_to(self, target: _Integers) -> None: ...
    def start_at(self, target: _Integers) -> None: ...
    def drop_unused_columns(self) -> None: ...
    def gram_columns(self, which: _Integers) -> _Floats: ...
    @property
    def members(self) -> _Integers: ...
    @property
    def beta(self) -> _Floats: ...
    @property
    def energy(self) -> float: ...
    @property
    def log_determinant(self) -> float: ...
    @property
    def c(self) -> _Floats: ...
    @property
    def d(self) -> _Floats: ...
    @property
    def columns_made(self) -> int: ...
    @property
    def columns_held(self) -> int: ...
    @property
    def passes(self) -> int: ...
    def insertion_gains(self) -> _Floats: ...
    def removal_costs(self) -> _Floats: ...
    def swap_gains(self) -> _Floats: ...
    def sbr(
        self,
        lam: float,
        forced: NDArray[np.bool_] | None,
        max_size: int,
        progress: Callable[[int], None] | None,
    ) -> tuple[int, int, float, float, float]: ...
    def sbr_path(
        self,
        forced: NDArray[np.bool_] | None,
        max_size: int,
        progress: Callable[[int], None] | None,
    ) -> tuple[list[tuple[_Integers, float, float, float, float]], int, float, bool]: ...
    def solution(
        self,
    ) -> tuple[_Integers, _Floats, _Floats, _Floats, _Floats, float, float]: ...

class Frontier:
    def __init__(self, engine: Engine, forced: NDArray[np.bool_] | None, swaps: bool) -> None: ...
    def grow(self, max_size: int, progress: Callable[[int], None] | None) -> None: ...
    @property
    def tried(self) -> int: ...
    def visit(self, size: int) -> None: ...
    def models(self) -> list[tuple[_Integers, float]]: ...
    def solutions(
        self,
    ) -> tuple[_Integers, _Integers, _Floats, _Floats, _Floats, _Floats, _Floats, _Floats]: ...

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

class SpikeSlabPrior:
    slab: Slab
    noise: Variance
    spread: Variance
    learn_theta: bool
    theta_a: float
    theta_b: float
    log_odds: list[float]
    degrees: float
    g: float
    information: float
    diagonal: float

def sample_spike_slab(
    design: Design,
    prior: SpikeSlabPrior,
    starts: list[list[int]],
    reference: list[float],
    seed: int,
    warmup: int,
    draws: int,
    thin: int,
    tempered: bool,
    threads: int,
    progress: Callable[[int], None] | None,
) -> list[dict[str, Any]]: ...
def enumerate_spike_slab(
    design: Design,
    prior: SpikeSlabPrior,
    reference: list[float],
    draws: int,
    seed: int,
    threads: int,
) -> tuple[dict[str, Any], _Floats, float]: ...
def climb_spike_slab(
    design: Design,
    prior: SpikeSlabPrior,
    starts: list[list[int]],
    swaps: bool,
    threads: int,
) -> list[tuple[_Integers, float]]: ...
def segment(
    series: list[_Floats],
    weights: list[_Floats | None],
    lams: _Floats,
    decays: _Floats,
    positive: bool,
    solver: str,
    want_signal: bool,
    threads: int,
) -> list[tuple[_Integers, _Floats, _Floats, float]]: ...
def fit_segments(
    y: _Floats,
    weights: _Floats | None,
    lam: float,
    decay: float,
    positive: bool,
    changepoints: _Integers,
    tidied: bool,
) -> tuple[_Integers, _Floats, _Floats, float]: ...

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

class ScaleMixturePrior:
    is_horseshoe: bool
    bridge: BridgePrior
    horseshoe: HorseshoePrior
    noise: Variance
    degrees: float

def sample_scale_mixture(
    design: Design,
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
) -> list[dict[str, Any]]: ...
def draw_gaussian(
    design: Design,
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

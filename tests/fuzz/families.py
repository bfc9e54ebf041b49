"""What is checked, and how often."""

from collections.abc import Callable
from typing import NamedTuple

from fuzz import (
    copies,
    flat_posteriors,
    group_posteriors,
    interruptions,
    likelihoods,
    posteriors,
    processes,
    proofs,
    segments,
    sifting,
    student_noise,
    subsets,
)


class Family(NamedTuple):
    check: Callable  # of a random generator; raises if something is wrong
    weight: float  # how often, compared with the others
    quick: int  # cases of it in the test suite; 0 while something is known to be wrong


FAMILIES = {
    "frontier": Family(subsets.check_frontier, 10, 60),
    "regressor": Family(subsets.check_regressor, 10, 60),
    "sifting": Family(sifting.check_sifting, 6, 40),
    "folds": Family(subsets.check_cross_validation, 4, 30),
    "likelihood": Family(likelihoods.check_likelihood, 6, 25),
    "groups": Family(likelihoods.check_group_likelihood, 4, 25),
    "proofs": Family(proofs.check_proof, 10, 40),
    "enumeration": Family(posteriors.check_enumeration, 6, 25),
    "flat": Family(flat_posteriors.check_flat, 4, 20),
    "sampling": Family(posteriors.check_sampling, 1, 2),
    "group_posterior": Family(group_posteriors.check_group_posterior, 3, 12),
    "student": Family(student_noise.check_student, 2, 8),
    "shrinkage": Family(posteriors.check_scale_mixtures, 1, 3),
    "segments": Family(segments.check_segments, 20, 150),
    "correlated": Family(segments.check_correlated, 10, 60),
    "series": Family(segments.check_defaults, 6, 60),
    "paths": Family(segments.check_path, 6, 25),
    "copies": Family(copies.check_copies, 1, 4),
    "interruptions": Family(interruptions.check_interruptions, 1, 3),
    "processes": Family(processes.check_processes, 0.03, 0),
    "threads": Family(processes.check_threads, 0.1, 1),
}

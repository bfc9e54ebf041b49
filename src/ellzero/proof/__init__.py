"""Proofs that a support is the best there is, and a checker of them."""

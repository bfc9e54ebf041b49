"""Slow and obvious: what the fast code is tested against."""

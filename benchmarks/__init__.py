"""Figures, measured: one script per question, run from the repository as ``python -m benchmarks.NAME``."""

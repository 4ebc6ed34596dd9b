"""Four papers on scaling, selecting and learning features, measured again: ``python -m benchmarks.scalings.all``."""

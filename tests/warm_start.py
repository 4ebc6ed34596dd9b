"""For the process that others are forked from: it has imported all that a run over files needs, and loaded compiled code."""

import pandas
import pyarrow.csv
import pyarrow.parquet

import rescaleinv.batch
from rescaleinv import ComplexEngine, TrainingSet

LOADED = (pandas, pyarrow.csv, pyarrow.parquet, rescaleinv.batch)
ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]), n_jobs=1).certify([[-1, 4]])

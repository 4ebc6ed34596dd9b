"""Small tables in files, for the tests of streams."""

import pandas as pd
import pyarrow as pa

from rescaleinv.batch.streams import read_rows


def write_csv(path, rows):
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def all_rows(file, columns, start=0, stop=None):
    tables = list(read_rows(file, start, file.n_rows if stop is None else stop, columns))
    return pa.concat_tables(tables).to_pandas()

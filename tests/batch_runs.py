"""Runs over files: the columns of their inputs, and what they leave in their folder."""

NAMES = ["clump", "size", "shape", "adhesion"]


def contents(folder):
    """All parts, byte for byte."""
    return {path.name: path.read_bytes() for path in folder.glob("part-*")}


def fragments(folder):
    return [path for path in folder.rglob("*") if ".part" in path.name.removesuffix(".parquet")]

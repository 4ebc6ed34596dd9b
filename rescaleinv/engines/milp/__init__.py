"""The paper's mixed-integer program."""

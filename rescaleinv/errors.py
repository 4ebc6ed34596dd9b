"""The errors of rescaleinv: one base class, and each child is also the built-in that a caller would expect."""

# So many row numbers stand in a warning's text.
_MOST_SHOWN = 20
# From this share of the rows on, a warning says what leaving rows out does to verdicts.
MANY_LEFT_OUT = 0.05


class RescaleInvError(Exception):
    """Base class of every error that rescaleinv raises on purpose. Its text is one line, whatever value is shown in it."""

    def __str__(self) -> str:
        return " ".join(super().__str__().split())


class InputError(RescaleInvError, ValueError):
    """The data or an argument cannot be used; the message says what was given and what is needed."""


class InputTypeError(InputError, TypeError):
    """A value is of a type that no number can be made of."""


class InseparableError(InputError):
    """No hyperplane separates the two classes strictly."""


class DatasetUnavailableError(RescaleInvError, LookupError):
    """A data set that does not ship with the package was not found."""


class SolverError(RescaleInvError, RuntimeError):
    """A numerical solver gave up, or gave an answer that does not pass its own check."""


class MissingSolverError(SolverError, ImportError):
    """A solver that was asked for is not installed."""


class CertificateError(RescaleInvError, ValueError):
    """A certificate could not be made, read, or believed."""


class BatchError(RescaleInvError, RuntimeError):
    """A run over files was cut short; called again in the same way it goes on where it was."""


class NotAvailableError(RescaleInvError, NotImplementedError):
    """What was asked for is planned, but this version does not have it."""


class LeftOutWarning(UserWarning):
    """Training rows were left out because no hyperplane separates the classes with them; ``rows`` has their numbers."""

    def __init__(self, rows: list[int], n_rows: int) -> None:
        super().__init__(rows, n_rows)
        self.rows = rows
        self.n_rows = n_rows

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.rows[:_MOST_SHOWN])) + (", …" if len(self.rows) > _MOST_SHOWN else "")
        return (
            f"{len(self.rows)} of {self.n_rows} training rows were left out, as no hyperplane separates the classes with "
            f"them: rows {shown}; all are in dropped_. inconsistent='soft' keeps all rows, 'raise' refuses such data"
            + self._meaning
        )

    @property
    def _meaning(self) -> str:
        """What it does to the verdicts where it is more than a few rows."""
        share = len(self.rows) / self.n_rows
        if share <= MANY_LEFT_OUT:
            return ""
        return (
            f". These are {share:.0%} of the rows: a hard margin on the rest is pinned by the rows that one SVM happened to "
            "get right, so fewer labels depend on scaling than do with all rows; verdicts are about the rows that were kept"
        )


class OneLabelWarning(UserWarning):
    """A soft margin gives every training row the same label; ``label`` says which."""

    def __init__(self, label: object, n_rows: int) -> None:
        super().__init__(label, n_rows)
        self.label = label
        self.n_rows = n_rows

    def __str__(self) -> str:
        return (
            f"the soft margin gives all {self.n_rows} training rows the label {self.label!r}: that a point's label does not "
            "depend on scaling means nothing here. class_weight='balanced' weighs the classes alike"
        )


class OtherInterceptWarning(UserWarning):
    """A model that was taken over has ``given`` as intercept, ``predict`` takes ``middle``; both are optimal."""

    def __init__(self, given: float, middle: float) -> None:
        super().__init__(given, middle)
        self.given, self.middle = given, middle

    def __str__(self) -> str:
        return (
            f"the best intercept of this SVM is not unique: the model has {self.given:.6g}, predict here takes "
            f"{self.middle:.6g}, the middle of the best ones, so points in between get another label. Verdicts are about "
            "every best intercept"
        )


class RefusedWarning(UserWarning):
    """The checker refused certificates of this package; ``points`` has their numbers and why. Please report it."""

    def __init__(self, points: dict[int, str]) -> None:
        super().__init__(points)
        self.points = points

    def __str__(self) -> str:
        first, why = next(iter(self.points.items()))
        more = f" (and {len(self.points) - 1} more)" if len(self.points) > 1 else ""
        return f"point {first}{more}: {why}; its verdict is now UNKNOWN. Please report this with the data"


class InaccurateWarning(UserWarning):
    """``predict`` has an SVM that is off by ``share`` of the range of its scores; in rationals it would take too long."""

    def __init__(self, share: float) -> None:
        super().__init__(share)
        self.share = share

    def __str__(self) -> str:
        return (
            f"the nu-SVM at this scaling is accurate to {self.share:.0e} of its scores only: the sizes of the features are "
            "too unlike for floats. Verdicts are proved without it; standardise the features for predict to be accurate"
        )


class NotKeptWarning(UserWarning):
    """Compiled code can't be kept on disk, so that every process compiles it again; the text says what to do."""

    def __str__(self) -> str:
        return (
            "compiled code can't be kept: neither the folder of rescaleinv nor the user's cache folder can be written to. "
            "Every process compiles it again. Set NUMBA_CACHE_DIR to a folder that can be written to, or run "
            "'rescaleinv warm' with it set while the container is built"
        )


class MissingPackageError(RescaleInvError, ImportError):
    """A package that is needed for what was asked is not installed; the message has the command that installs it."""

    def __init__(self, what: str, package: str, install: str | None = None) -> None:
        super().__init__(f"{what} needs {package}, which is not installed: python -m pip install {install or package}")

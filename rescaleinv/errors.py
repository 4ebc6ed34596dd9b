"""The errors of rescaleinv: one base class, and each child is also the built-in that a caller would expect."""


class RescaleInvError(Exception):
    """Base class of every error that rescaleinv raises on purpose."""


class InputError(RescaleInvError, ValueError):
    """The data or an argument cannot be used; the message says what was given and what is needed."""


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

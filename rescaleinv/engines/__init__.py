"""Engines decide points. One protocol (``Engine``) and one registry: a new engine is one file and one line here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from rescaleinv import verify
from rescaleinv._util.types import FloatArray, IntArray
from rescaleinv.certificates.certificate import Certificate, Witness
from rescaleinv.errors import NotAvailableError
from rescaleinv.theory.conditioning import Conditioning
from rescaleinv.theory.inputs import as_matrix
from rescaleinv.theory.nu_margin import NuMargin
from rescaleinv.theory.training_set import TrainingSet
from rescaleinv.verdict import Verdict, Verdicts, read_only

# What an engine keeps in a model file: plain facts (JSON), and arrays.
EngineState = tuple[dict[str, Any], Mapping[str, npt.NDArray[Any]]]


@dataclass(frozen=True)
class Abilities:
    """What an engine can do.

    Attributes
    ----------
    every_rescaling : bool
        Verdicts about every rescaling.
    limited_ranges : bool
        Verdicts about a finite range for each factor.
    mixed_ranges : bool
        Finite ranges for some features, every factor for others.
    soft_margin : bool
        Penalties (a finite C).
    nu : bool
        The soft margin that has no scale.
    groups : bool
        Features that share one factor.
    radius : bool
        How far the label of a point holds.
    enumerates : bool
        Lists all extreme classifiers first: fast for any number of points, and only for few features.
    proof : "none", "point" or "training set"
        Strong verdicts have no certificate; or each has one that stands by itself; or they refer to one proof of the
        whole training set, which ``prove`` writes.
    """

    every_rescaling: bool = False
    limited_ranges: bool = False
    mixed_ranges: bool = False
    soft_margin: bool = False
    nu: bool = False
    groups: bool = False
    radius: bool = False
    enumerates: bool = False
    proof: Literal["none", "point", "training set"] = "none"

    def missing(self, needed: set[str]) -> list[str]:
        """Which of the needed abilities are not there, in the order of the attributes."""
        return [ability.name for ability in fields(self) if ability.name in needed and not getattr(self, ability.name)]


@dataclass(frozen=True)
class EngineSettings:
    """What the user has said about engines. An engine takes from it what it has a use for."""

    time_limit: float | None = None
    max_vertices: int | None = None
    max_seconds: float | None = None
    n_jobs: int | None = None
    left_out: int = 0
    limits: FloatArray | None = None  # the ranges of τ, where they are limited
    groups: IntArray | None = None
    penalties: FloatArray | None = None  # of a soft margin
    nu: NuMargin | None = None  # a soft margin without a scale: ν and the weights of the rows
    variant: str = ""  # what stands behind the colon of the engine's name
    fallback: Engine | None = field(default=None, repr=False)  # decides what the engine leaves open

    @property
    def needs(self) -> set[str]:
        """The abilities that an engine must have for these settings."""
        limits = self.limits
        free = np.zeros(1, dtype=bool) if limits is None else (limits[:, 0] == 0) | np.isinf(limits[:, 1])
        wanted = {
            "every_rescaling": limits is None,
            "limited_ranges": limits is not None,
            "mixed_ranges": bool(free.any()),
            "soft_margin": self.penalties is not None,
            "nu": self.nu is not None,
            "groups": self.groups is not None,
        }
        return {name for name, needed in wanted.items() if needed}


class Extremes(NamedTuple):
    """All extreme classifiers: one row (w, b) for each, in the units of ``conditioning``."""

    solutions: FloatArray
    conditioning: Conditioning


def owned(matrix: FloatArray, given: Any) -> FloatArray:
    """The matrix that ``as_matrix`` made of what was given, or a copy if it is still the caller's memory; read-only."""
    if matrix is given or matrix.base is not None:
        matrix = matrix.copy()
    return read_only(matrix)


class Engine(ABC):
    """Decides points of one training set, and shows why. Every engine has the methods and attributes of this class.

    An engine is made for a training set; the first ``certify`` (or ``precompute``) does whatever is needed once for that
    training set, and keeps it.

    Attributes
    ----------
    name : str
        As in the registry.
    scope : str
        What the claims of its certificates end in: "" where they are about every rescaling, " within the range" where
        they are about limited ranges, " with nu" where they are about every rescaling with a ν-margin.
    training_set : TrainingSet
    """

    name: str
    scope: str = ""
    training_set: TrainingSet
    progress: bool | None = None  # a progress bar on stderr; None: only on a terminal and when it takes long

    @classmethod
    @abstractmethod
    def from_settings(cls, training_set: TrainingSet, settings: EngineSettings) -> Self:
        """Make the engine with what it needs of the settings.

        Parameters
        ----------
        training_set : TrainingSet
        settings : EngineSettings

        Returns
        -------
        Engine

        Examples
        --------
        >>> from rescaleinv import ComplexEngine
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> ComplexEngine.from_settings(ts, EngineSettings(max_vertices=1000)).budget
        Budget(vertices=1000, seconds=None, bytes=8589934592)
        """

    @property
    def abilities(self) -> Abilities:
        """What the engine can do, as the registry has it.

        Examples
        --------
        >>> from rescaleinv import ComplexEngine
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> engine.abilities.proof, engine.abilities.limited_ranges
        ('training set', False)
        """
        return registered(self.name).abilities

    @abstractmethod
    def precompute(self) -> None:
        """Do now what the first ``certify`` would do: whatever is needed once for the training set.

        Examples
        --------
        >>> from rescaleinv import ComplexEngine
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> engine.precompute()
        >>> engine.complete
        True
        """

    def certify(self, points: Any) -> Verdicts:
        """The verdicts of the points (a table, one row per point).

        Parameters
        ----------
        points : table

        Returns
        -------
        Verdicts

        Examples
        --------
        >>> from rescaleinv import ComplexEngine
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> engine.certify([[-1, 4], [4, 4], [0, 0]]).code
        array([ 0,  1, -1], dtype=int8)
        """
        rows = as_matrix(points, what="the points", n_features=self.training_set.n_features)
        return self.certify_checked(owned(rows, points))

    @abstractmethod
    def certify_checked(self, rows: FloatArray) -> Verdicts:
        """``certify`` for a matrix that ``as_matrix`` has already checked; the verdicts keep it if it is read-only.

        Parameters
        ----------
        rows : float array of shape (n_points, n_features)

        Returns
        -------
        Verdicts

        Examples
        --------
        >>> from rescaleinv import ComplexEngine
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> engine.certify_checked(np.array([[-1.0, 4.0], [4.0, 4.0]])).code
        array([0, 1], dtype=int8)
        """

    def _checked_point(self, point: Any) -> FloatArray:
        return as_matrix([list(point)], what="the point", n_features=self.training_set.n_features)[0]

    @abstractmethod
    def explain(self, point: Any) -> Witness:
        """Two rescalings that disagree about a neutral point, and the certificate; a ``CertificateError`` for others.

        Parameters
        ----------
        point : sequence with one number per feature

        Returns
        -------
        Witness

        Examples
        --------
        >>> from rescaleinv import MilpEngine
        >>> engine = MilpEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> engine.explain([-1, 4]).certificate.claim
        'neutral'
        """

    @abstractmethod
    def certificate(self, point: Any, verdict: Verdict) -> Certificate:
        """The certificate of a point's verdict, strong or neutral; a ``CertificateError`` where there is none.

        Parameters
        ----------
        point : sequence with one number per feature
        verdict : Verdict
            What ``certify`` said of it.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> from rescaleinv import ComplexEngine
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> verify.check(engine.certificate([-1, 4], Verdict.NEUTRAL).to_json())
        'neutral'
        """

    def prove(self, path: str | Path) -> Any:
        """Write the proof of the training set to which strong certificates refer, and have it checked.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        ComplexProof

        Raises
        ------
        NotAvailableError
            Where the engine has no such proof; the message says what there is instead.

        Examples
        --------
        >>> import tempfile
        >>> from rescaleinv import ComplexEngine
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(engine.prove(Path(folder) / "complex.jsonl").n_vertices)
        2
        """
        alternatives = {
            "none": 'its strong verdicts rest on the word of a solver; engine="complex" proves them',
            "point": "each certificate stands by itself: certify(points).prove(path) writes and checks them",
        }
        why = alternatives.get(self.abilities.proof, "it has no such proof")
        raise NotAvailableError(f"the engine {self.name!r} has no proof of the whole training set; {why}")

    @property
    def complexes(self) -> list[verify.Complex]:
        """The proofs of the training set that were checked, for the certificates of strong verdicts to refer to.

        Examples
        --------
        >>> import tempfile
        >>> from rescaleinv import ComplexEngine
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     proof = engine.prove(Path(folder) / "complex.jsonl")
        >>> len(engine.complexes)
        1
        """
        return []

    def radius(self, points: Any, *, ratio: float = 1.01, largest: float = 1000.0) -> FloatArray:
        """For each point [certified κ, refuted κ]: its label holds for all τ in [1/κ, κ], and does not.

        Parameters
        ----------
        points : table
        ratio : float
            How near to each other the two are brought.
        largest : float
            Where to stop.

        Returns
        -------
        float array of shape (n_points, 2)

        Examples
        --------
        >>> from rescaleinv import GapEngine
        >>> engine = GapEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]), scale_range=2)
        >>> engine.radius([[-1, 4]]).round(2)
        array([[1.06, 1.06]])
        """
        raise NotAvailableError(f"the engine {self.name!r} does not find how far a label holds")

    def radius_certificates_of(
        self, point: FloatArray, *, ratio: float = 1.01, largest: float = 1000.0
    ) -> tuple[Certificate | None, Certificate | None]:
        """The certificates of both ends of the radius of a point (a table of one row); None where there is no such end.

        Parameters
        ----------
        point : float array of shape (1, n_features)
        ratio, largest : float
            As in ``radius``.

        Returns
        -------
        tuple of Certificate or None

        Examples
        --------
        >>> from rescaleinv import GapEngine
        >>> engine = GapEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]), scale_range=2)
        >>> holds, changes = engine.radius_certificates_of(np.array([[-1.0, 4.0]]), ratio=1.1)
        >>> holds.claim, changes.claim
        ('strongly positive within the range', 'neutral within the range')
        """
        raise NotAvailableError(f"the engine {self.name!r} does not find how far a label holds")

    def extremes(self) -> Extremes | None:
        """All extreme classifiers where the engine enumerates them and was not stopped, else None.

        Examples
        --------
        >>> from rescaleinv import ComplexEngine, MilpEngine
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> ComplexEngine(ts).extremes().solutions.shape, MilpEngine(ts).extremes()
        ((2, 3), None)
        """
        return None

    def state(self) -> EngineState | None:
        """What was computed so far and is worth keeping in a model file, or None.

        Examples
        --------
        >>> from rescaleinv import ComplexEngine
        >>> engine = ComplexEngine(TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1]))
        >>> engine.state() is None
        True
        >>> engine.precompute()
        >>> sorted(engine.state()[1])
        ['bases', 'perturbation', 'solutions']
        """
        return None

    def restore_state(
        self, facts: dict[str, Any], arrays: Mapping[str, npt.NDArray[Any]], *, trusted: bool = False
    ) -> None:
        """Take what ``state`` gave before; a ``ValueError`` or ``TypeError`` where it can't be this training set's.

        Unless it is ``trusted`` (this process, or the run it belongs to, computed it), verdicts that rest on it are
        "computed" until they are proved.

        Parameters
        ----------
        facts : dict
        arrays : mapping from name to array
            Both as ``state`` gave them.
        trusted : bool

        Examples
        --------
        >>> from rescaleinv import ComplexEngine
        >>> ts = TrainingSet([[-1, 5], [5, -1], [1.4, 1.4], [1, 1]], [1, 1, 1, -1])
        >>> first, again = ComplexEngine(ts), ComplexEngine(ts)
        >>> first.precompute()
        >>> again.restore_state(*first.state())
        >>> again.certify([[-1, 4], [4, 4]]).code
        array([0, 1], dtype=int8)
        """
        raise TypeError(f"it has the results of another engine; {self.name!r} keeps none")


@dataclass(frozen=True)
class Registered:
    """One line of the registry. ``home`` (module:class) is imported when the engine is first made."""

    home: str
    abilities: Abilities
    variants: str = ""  # module:mapping whose keys may follow the name after a colon; the first one is the default

    def load(self) -> type[Engine]:
        found: type[Engine] = _loaded(self.home)
        return found

    @property
    def variant_names(self) -> list[str]:
        return list(_loaded(self.variants)) if self.variants else []


def _loaded(home: str) -> Any:
    module, _, name = home.partition(":")
    return getattr(import_module(f"{__name__}.{module}"), name)


# In the order in which "auto" considers them. Abilities stand here and not in the classes so that choosing an engine does
# not import compiled code.
REGISTRY: dict[str, Registered] = {
    "complex": Registered(
        "complex.engine:ComplexEngine", Abilities(every_rescaling=True, enumerates=True, proof="training set")
    ),
    "staged": Registered("staged:StagedEngine", Abilities(every_rescaling=True, nu=True, proof="point")),
    "tree": Registered("branch.free.engine:TreeEngine", Abilities(every_rescaling=True, nu=True, proof="point")),
    "milp": Registered("milp.engine:MilpEngine", Abilities(every_rescaling=True), variants="milp.solvers:BACKENDS"),
    "gap": Registered(
        "branch.engine:GapEngine",
        Abilities(
            limited_ranges=True, mixed_ranges=True, soft_margin=True, nu=True, groups=True, radius=True, proof="point"
        ),
    ),
}


def registered(name: str) -> Registered:
    """The registry's line for an engine's name, with or without a variant ("milp", "milp:pulp")."""
    return REGISTRY[name.partition(":")[0]]


def full_name(name: str) -> str:
    """The name with its variant, the default one if none is given.

    >>> full_name("milp"), full_name("milp:pulp"), full_name("gap")
    ('milp:highs', 'milp:pulp', 'gap')
    """
    variants = registered(name).variant_names
    return f"{name}:{variants[0]}" if variants and ":" not in name else name


def engine_names() -> list[str]:
    """Every name that an engine can be asked for by.

    >>> "complex" in engine_names(), "milp:ortools:highs" in engine_names()
    (True, True)
    """
    return [
        name
        for engine, entry in REGISTRY.items()
        for name in (engine, *(f"{engine}:{variant}" for variant in entry.variant_names))
    ]

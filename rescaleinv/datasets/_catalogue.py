"""The data sets that `load` knows: what their labels mean, and where they come from."""

import string
from collections.abc import Mapping
from typing import NamedTuple


class OpenMLCopy(NamedTuple):
    """A copy at OpenML, and what turns it into the table that the CSV file holds."""

    data_id: int
    n_rows: int
    feature_names: tuple[str, ...]
    label_of: Mapping[str, str] = {}
    number_of: Mapping[str, str] = {}
    stands_for_empty: str | None = None  # how the text of a cell begins if the cell is empty at UCI
    note: str = ""


class Entry(NamedTuple):
    """What is known about a data set before any of it is read."""

    title: str
    page: str  # its path at archive.ics.uci.edu; empty where UCI has no page for it now
    classes: tuple[int, ...] | tuple[str, ...]
    meaning: str
    ships: bool = False
    openml: OpenMLCopy | None = None
    home: str = ""  # where it is found, if not at UCI
    licence: str = "CC BY 4.0"
    group: str = ""  # the column, if any, that says to which group a row belongs: not a feature

    @property
    def url(self) -> str:
        return self.home or f"https://archive.ics.uci.edu/{self.page}"

    @property
    def attribution(self) -> str:
        repository = "" if self.home else "UCI Machine Learning Repository, "
        return f"{self.title}. {repository}{self.url}. {self.licence}."

    @property
    def listed_classes(self) -> str:
        return " or ".join(map(str, self.classes))


def _numbered(prefix: str, first: int, last: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{number}" for number in range(first, last + 1))


BINARY = (1, -1)
_OTHER_ORDER = " OpenML holds the same rows in another order than UCI."

_LIVER_FEATURES = (
    "age",
    "gender_male",
    "total_bilirubin",
    "direct_bilirubin",
    "alkaline_phosphatase",
    "alamine_aminotransferase",
    "aspartate_aminotransferase",
    "total_proteins",
    "albumin",
    "albumin_globulin_ratio",
)
_HEART_FEATURES = (
    "age",
    "sex",
    "chest_pain",
    "rest_bp",
    "cholesterol",
    "fasting_sugar",
    "rest_ecg",
    "max_heart_rate",
    "exercise_angina",
    "oldpeak",
    "slope",
    "vessels",
    "thal",
)
_GLASS_FEATURES = ("ri", "na", "mg", "al", "si", "k", "ca", "ba", "fe")
_GLASS_TYPES = {
    "build wind float": "1",
    "build wind non-float": "2",
    "vehic wind float": "3",
    "containers": "5",
    "tableware": "6",
    "headlamps": "7",
}

# No copy at OpenML is known to hold the same table as the CSV file for bupa_liver (there the selector is left out),
# vowel (there train_test is left out, and speaker and sex are names) and credit_g_numeric.
ENTRIES = {
    "breast_cancer_wisconsin": Entry(
        "Breast Cancer Wisconsin (Original), William H. Wolberg",
        "dataset/15/breast+cancer+wisconsin+original",
        BINARY,
        "+1 = benign, -1 = malignant.",
        ships=True,
    ),
    "pima_diabetes": Entry(
        "Pima Indians Diabetes, National Institute of Diabetes and Digestive and Kidney Diseases",
        "",
        BINARY,
        "+1 = diabetic, -1 = not.",
        ships=True,
    ),
    "blood_transfusion": Entry(
        "Blood Transfusion Service Center, I-Cheng Yeh",
        "dataset/176/blood+transfusion+service+center",
        BINARY,
        "+1 = donated, -1 = did not. monetary_cc is 250 times frequency_times.",
        ships=True,
    ),
    "fertility": Entry(
        "Fertility, David Gil and Jose Luis Girela",
        "dataset/244/fertility",
        BINARY,
        "+1 = altered, -1 = normal.",
        ships=True,
    ),
    "banknote": Entry(
        "Banknote Authentication, Volker Lohweg",
        "dataset/267/banknote+authentication",
        BINARY,
        "+1 = class 1, -1 = class 0.",
        ships=True,
    ),
    "urine": Entry(
        "Urine crystals, D. P. Byar; D. F. Andrews and A. M. Herzberg, Data, 1985",
        "",
        BINARY,
        "+1 = calcium oxalate crystals are present, -1 = absent. The units of the features are in their names.",
        ships=True,
        home="https://CRAN.R-project.org/package=boot",
        licence="Unlimited distribution",
    ),
    "penguins": Entry(
        "Palmer penguins, Allison Marie Horst, Alison Presmanes Hill and Kristen B. Gorman, 2020",
        "",
        BINARY,
        "+1 = male, -1 = female. The species is a group of rows, not a feature.",
        ships=True,
        home="https://allisonhorst.github.io/palmerpenguins/",
        licence="CC0 1.0",
        group="species",
    ),
    "indian_liver_patient": Entry(
        "ILPD (Indian Liver Patient Dataset)",
        "dataset/225/ilpd+indian+liver+patient+dataset",
        BINARY,
        "+1 = not a liver patient, -1 = liver patient. Four rows have no albumin_globulin_ratio.",
        openml=OpenMLCopy(
            1480,
            583,
            _LIVER_FEATURES,
            label_of={"1": "-1", "2": "1"},
            number_of={"Female": "0", "Male": "1"},
            # Copies of it have the mean of the column in the four empty cells; measured ratios have two decimals.
            stands_for_empty="0.94706",
        ),
    ),
    "heart_statlog": Entry(
        "Statlog (Heart)",
        "dataset/145/statlog+heart",
        BINARY,
        "+1 = disease present, -1 = absent.",
        openml=OpenMLCopy(53, 270, _HEART_FEATURES, label_of={"absent": "-1", "present": "1"}),
    ),
    "bupa_liver": Entry(
        "Liver Disorders", "dataset/60/liver+disorders", BINARY, "The selector: +1 where it is 2, -1 where it is 1."
    ),
    "credit_g_numeric": Entry(
        "Statlog (German Credit Data), numeric",
        "dataset/144/statlog+german+credit+data",
        ("good", "bad"),
        "Whether the credit risk is good or bad.",
    ),
    "ecoli": Entry(
        "Ecoli",
        "dataset/39/ecoli",
        ("cp", "im", "pp", "imU", "om", "omL", "imS", "imL"),
        "Where in the cell the protein is found.",
        openml=OpenMLCopy(39, 336, ("mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2")),
    ),
    "glass": Entry(
        "Glass Identification",
        "dataset/42/glass+identification",
        (1, 2, 3, 5, 6, 7),
        "The type of glass.",
        openml=OpenMLCopy(41, 214, _GLASS_FEATURES, label_of=_GLASS_TYPES, note=_OTHER_ORDER),
    ),
    "vehicle": Entry(
        "Statlog (Vehicle Silhouettes)",
        "dataset/149/statlog+vehicle+silhouettes",
        ("bus", "saab", "opel", "van"),
        "The vehicle.",
        openml=OpenMLCopy(54, 846, _numbered("a", 1, 18)),
    ),
    "vowel": Entry(
        "Connectionist Bench (Vowel Recognition - Deterding Data)",
        "dataset/152/connectionist+bench+vowel+recognition+deterding+data",
        tuple(range(11)),
        "The vowel, 0 to 10.",
    ),
    "sonar": Entry(
        "Connectionist Bench (Sonar, Mines vs. Rocks)",
        "dataset/151/connectionist+bench+sonar+mines+vs+rocks",
        ("M", "R"),
        "M = mine, R = rock.",
        openml=OpenMLCopy(40, 208, _numbered("b", 1, 60), label_of={"Mine": "M", "Rock": "R"}),
    ),
    "letter": Entry(
        "Letter Recognition",
        "dataset/59/letter+recognition",
        tuple(string.ascii_uppercase),
        "The letter.",
        openml=OpenMLCopy(6, 20000, _numbered("a", 1, 16), note=_OTHER_ORDER),
    ),
    "optdigits": Entry(
        "Optical Recognition of Handwritten Digits",
        "dataset/80/optical+recognition+of+handwritten+digits",
        tuple(range(10)),
        "The digit; UCI's training rows come before its test rows.",
        openml=OpenMLCopy(28, 5620, _numbered("p", 0, 63)),
    ),
    "spambase": Entry(
        "Spambase",
        "dataset/94/spambase",
        BINARY,
        "+1 = spam, -1 = not. f1 to f54 are the frequencies of words and characters.",
        openml=OpenMLCopy(44, 4601, _numbered("f", 1, 57), label_of={"0": "-1", "1": "1"}),
    ),
}

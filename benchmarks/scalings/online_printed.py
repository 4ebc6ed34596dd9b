"""Tables 1 to 4 of Bollegala & Iba as printed, and which of the two parts of the data each figure can be a share of."""

from __future__ import annotations

# Table 1: training and test rows
SIZES = {"heart": (216, 54), "liver": (276, 69), "diabetes": (611, 157)}
# Tables 2 to 4: the columns "Train Error" and "Test Error", which hold accuracies (the best method has the highest)
PRINTED = {
    "heart": {
        "SGD": (0.537037, 0.574074),
        "SGD+avg": (0.481481, 0.435185),
        "GN": (0.87037, 0.824074),
        "GN+avg": (0.777778, 0.768519),
        "FS": (0.592593, 0.49537),
        "FS+avg": (0.481481, 0.435185),
        "FS-1": (0.703704, 0.564815),
        "FS-1+avg": (0.759259, 0.564815),
        "FS-2": (0.740741, 0.569444),
        "FS-2+avg": (0.574074, 0.467593),
        "FS-3": (0.592593, 0.476852),
        "FS-3+avg": (0.574074, 0.421296),
        "PA": (0.648148, 0.675926),
        "PA+avg": (0.611111, 0.662037),
        "PA-I": (0.648148, 0.675926),
        "PA-I+avg": (0.611111, 0.662037),
        "PA-II": (0.648148, 0.675926),
        "PA-II+avg": (0.611111, 0.662037),
    },
    "liver": {
        "SGD": (0.608696, 0.561594),
        "SGD+avg": (0.550725, 0.586957),
        "GN": (0.695652, 0.637681),
        "GN+avg": (0.777778, 0.768519),
        "FS": (0.637681, 0.586957),
        "FS+avg": (0.550725, 0.586957),
        "FS-1": (0.623188, 0.413043),
        "FS-1+avg": (0.623188, 0.413043),
        "FS-2": (0.681159, 0.59058),
        "FS-2+avg": (0.550725, 0.586957),
        "FS-3": (0.623188, 0.550725),
        "FS-3+avg": (0.550725, 0.586957),
        "PA": (0.434783, 0.427536),
        "PA+avg": (0.565217, 0.594203),
        "PA-I": (0.434783, 0.427536),
        "PA-I+avg": (0.565217, 0.594203),
        "PA-II": (0.434783, 0.427536),
        "PA-II+avg": (0.565217, 0.594203),
    },
    "diabetes": {
        "SGD": (0.643312, 0.653028),
        "SGD+avg": (0.643312, 0.653028),
        "GN": (0.656051, 0.656301),
        "GN+avg": (0.656051, 0.671031),
        "FS": (0.643312, 0.653028),
        "FS+avg": (0.643312, 0.653028),
        "FS-1": (0.643312, 0.653028),
        "FS-1+avg": (0.643312, 0.653028),
        "FS-2": (0.643312, 0.653028),
        "FS-2+avg": (0.643312, 0.653028),
        "FS-3": (0.643312, 0.653028),
        "FS-3+avg": (0.643312, 0.653028),
        "PA": (0.611465, 0.656301),
        "PA+avg": (0.636943, 0.657938),
        "PA-I": (0.648148, 0.675926),
        "PA-I+avg": (0.636943, 0.657938),
        "PA-II": (0.611465, 0.656301),
        "PA-II+avg": (0.636943, 0.657938),
    },
}
# what is left of six printed digits
_ROUNDING = 1e-6


def is_share(value: float, n_rows: int) -> bool:
    """Whether the printed value can be the share of some of so many rows."""
    return abs(round(value * n_rows) / n_rows - value) <= _ROUNDING


def columns_are_swapped(name: str) -> dict[str, int]:
    """How many rows of a table fit the parts as they are headed, swapped, both ways, or neither way."""
    train, test = SIZES[name]
    counts = {"as headed": 0, "swapped": 0, "both": 0, "neither": 0}
    for first, second in PRINTED[name].values():
        headed = is_share(first, train) and is_share(second, test)
        swapped = is_share(first, test) and is_share(second, train)
        counts["both" if headed and swapped else "as headed" if headed else "swapped" if swapped else "neither"] += 1
    return counts


def misprints() -> list[tuple[str, str, str]]:
    """Rows that fit neither way: data set, learner, and the data set of which that row is a copy."""
    found = []
    for name, rows in PRINTED.items():
        train, test = SIZES[name]
        for learner, (first, second) in rows.items():
            if not (is_share(first, test) and is_share(second, train)):
                same = [other for other in PRINTED if other != name and PRINTED[other][learner] == (first, second)]
                found.append((name, learner, ", ".join(same)))
    return found

"""What numbers measure: scales, units with their dimensions, and currencies."""

from __future__ import annotations

SCALES = {
    "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9,
    "b": 1e9, "trillion": 1e12, "tn": 1e12, "dozen": 12.0,
}  # fmt: skip
#: unit -> (dimension, factor to the dimension's base unit)
UNITS: dict[str, tuple[str, float]] = {
    name: (dimension, factor)
    for dimension, table in {
        "length": {
            "mm millimetre millimeter millimetres millimeters": 1e-3,
            "cm centimetre centimeter centimetres centimeters": 1e-2,
            "metre meter metres meters": 1.0,
            "km kilometre kilometer kilometres kilometers kms": 1e3,
            "inch inches": 0.0254,
            "foot feet ft": 0.3048,
            "yard yards yd": 0.9144,
            "mile miles mi": 1609.344,
        },
        "mass": {
            "mg milligram milligrams": 1e-6,
            "g gram grams": 1e-3,
            "kg kilogram kilograms kilos": 1.0,
            "lb lbs pound pounds": 0.45359237,
            "ounce ounces oz": 0.028349523,
            "tonne tonnes ton tons": 1e3,
        },
        "time": {
            "second seconds sec secs": 1.0,
            "minute minutes min mins": 60.0,
            "hour hours hr hrs": 3600.0,
            "day days": 86400.0,
            "week weeks": 604800.0,
            "month months": 2629800.0,
            "year years yr yrs": 31557600.0,
            "decade decades": 315576000.0,
            "century centuries": 3155760000.0,
        },
        "speed": {"mph": 0.44704, "kph kmh": 0.27777778},
        "power": {"watt watts w": 1.0, "kw kilowatt kilowatts": 1e3, "mw megawatt megawatts": 1e6},
        "memory": {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    }.items()
    for names, factor in table.items()
    for name in names.split()
}
CURRENCIES = {
    "$": "usd", "us$": "usd", "dollar": "usd", "dollars": "usd", "usd": "usd", "€": "eur", "euro": "eur",
    "euros": "eur", "eur": "eur", "£": "gbp", "gbp": "gbp", "¥": "jpy", "yen": "jpy", "rupees": "inr",
}  # fmt: skip

"""What tests of drawings share."""

import xml.etree.ElementTree as ET
from pathlib import Path

HOSTILE = [
    "<script>$x_{",
    "$",
    "100 % & \\input{x}",
    "]]> --> \"quoted\" 'single'",
    "$x$ and $y$",  # mathematics, if it were taken for that
    "$x_{$",  # and this, none that is right
    "<script>$\\frac$ $x_{",
]


def texts(svg: Path) -> list[str]:
    """What an SVG says as text."""
    found = ET.parse(svg).getroot().iter("{http://www.w3.org/2000/svg}text")
    return ["".join(element.itertext()) for element in found]

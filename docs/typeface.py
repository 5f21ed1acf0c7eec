"""The letters of drawings: `python docs/typeface.py` takes them from matplotlib's copy of the STIX fonts.

It writes src/polhode/show/vector/assets/typeface.txt, one letter a line: face, code, advance, outline in thousandths of
the size, y upwards, each command from where the one before ended. The font's licence (OFL 1.1) stands beside it, and
asks for another name.
"""

from pathlib import Path

from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont
from matplotlib import get_data_path

ASSETS = Path(__file__).resolve().parents[1] / "src" / "polhode" / "show" / "vector" / "assets"
FONTS = Path(get_data_path()) / "fonts" / "ttf"
SYMBOLS = [range(0x20, 0x7F), range(0x391, 0x3D7), (0xB0, 0xB7, 0x2032, 0x2033, 0x2034, 0x2212)]
WORDS = [
    *SYMBOLS,
    range(0xA0, 0x180),  # Latin
    range(0x384, 0x400),  # Greek
    range(0x400, 0x460),  # Cyrillic
    range(0x2010, 0x2040),  # punctuation
    range(0x2070, 0x20A0),  # raised and lowered digits
    (0x20AC, 0x2113, 0x2190, 0x2191, 0x2192, 0x2193, 0x2194, 0x2202, 0x2207, 0x221A, 0x221E, 0x222B, 0x2248),
    (0x2260, 0x2264, 0x2265, 0x2295, 0x2297, 0x22C5, 0x25CB, 0x25CF),
]
FACES = {
    "upright": ("STIXGeneral.ttf", WORDS),
    "italic": ("STIXGeneralItalic.ttf", SYMBOLS),
    "bold-italic": ("STIXGeneralBolIta.ttf", SYMBOLS),
}


class Outline(BasePen):
    """Writes an outline as m, l, q and z in whole numbers, each command from where the one before ended."""

    def __init__(self, glyphs, scale):
        super().__init__(glyphs)
        self.scale, self.at, self.start, self.text = scale, (0, 0), (0, 0), ""

    def _add(self, letter, *points):
        x, y = self.at
        whole = [(round(px * self.scale), round(py * self.scale)) for px, py in points]
        self.text += letter + "".join(
            f"{number - of:+d}" for point in whole for number, of in zip(point, (x, y), strict=True)
        )
        self.at = whole[-1]

    def _moveTo(self, p):
        self._add("m", p)
        self.start = self.at

    def _lineTo(self, p):
        self._add("l", p)

    def _qCurveToOne(self, a, b):
        self._add("q", a, b)

    def _closePath(self):
        self.text += "z"
        self.at = self.start


def lines(face: str, file: str, codes: list) -> list[str]:
    """The letters of a face."""
    font = TTFont(FONTS / file)
    glyphs, names, scale = font.getGlyphSet(), font.getBestCmap(), 1000 / font["head"].unitsPerEm
    found = []
    for code in sorted({code for some in codes for code in some} & set(names)):
        pen = Outline(glyphs, scale)
        glyphs[names[code]].draw(pen)
        found.append(f"{face} {code:04X} {round(glyphs[names[code]].width * scale)} {pen.text}".rstrip())
    return found


def main() -> None:
    """Write the letters and their licence."""
    head = ["# letters of drawings; derived from the STIX fonts, see typeface.LICENSE; made by docs/typeface.py"]
    made = [line for face, (file, codes) in FACES.items() for line in lines(face, file, codes)]
    (ASSETS / "typeface.txt").write_text("\n".join([*head, *made, ""]), encoding="utf-8")
    (ASSETS / "typeface.LICENSE").write_bytes((FONTS / "LICENSE_STIX").read_bytes())
    print(f"{len(made)} letters")


if __name__ == "__main__":
    main()

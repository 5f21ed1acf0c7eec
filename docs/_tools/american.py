"""American spellings in prose, which is British here: `python docs/_tools/american.py FILE …` lists them with the word to write.

Code, links and quoted names are left alone: `center=` and `linearize` are names.
"""

import re
import sys
from pathlib import Path

from page_blocks import prose

WORDS = {
    "analyze": "analyse", "analyzed": "analysed", "analyzing": "analysing", "artifact": "artefact", "behavior": "behaviour", "catalog": "catalogue",
    "center": "centre", "centered": "centred", "centers": "centres", "color": "colour", "colored": "coloured", "colors": "colours", "defense": "defence",
    "discretize": "discretise", "discretized": "discretised", "favor": "favour", "favorite": "favourite", "generalize": "generalise",
    "generalized": "generalised", "gray": "grey", "honor": "honour", "initialize": "initialise", "initialized": "initialised", "labeled": "labelled",
    "labor": "labour", "linearization": "linearisation", "linearize": "linearise", "linearized": "linearised", "linearizing": "linearising",
    "meter": "metre", "meters": "metres", "minimize": "minimise", "minimized": "minimised", "modeled": "modelled", "modeling": "modelling",
    "neighbor": "neighbour", "neighbors": "neighbours", "normalization": "normalisation", "normalize": "normalise", "normalized": "normalised",
    "normalizing": "normalising", "optimization": "optimisation", "optimize": "optimise", "optimized": "optimised", "optimizer": "optimiser",
    "organize": "organise", "parameterize": "parametrise", "realize": "realise", "recognize": "recognise", "regularized": "regularised",
    "specialize": "specialise", "specialized": "specialised", "stabilization": "stabilisation", "stabilize": "stabilise", "stabilized": "stabilised",
    "summarize": "summarise", "symmetrize": "symmetrise", "traveled": "travelled", "traveling": "travelling", "tire": "tyre", "vectorized": "vectorised",
    "visualization": "visualisation", "visualize": "visualise", "organization": "organisation", "utilize": "use", "centimeter": "centimetre",
    "millimeter": "millimetre", "kilometer": "kilometre", "maximize": "maximise", "discretization": "discretisation", "generalization": "generalisation",
    "initialization": "initialisation", "parametrize": "parametrise", "parametrized": "parametrised", "penalize": "penalise", "quantized": "quantised",
}  # fmt: skip
"""American → British."""

NAMES = re.compile(
    r"`[^`]*`|\]\([^)]*\)|<[^>]*>|https?://\S+|\"[\w .-]+\"|“[^”]*”|\{[^}]*\}|\$[^$]*\$|\b[\w-]+\.(?:md|py|yaml|svg|png)\b"
)


def found(path: Path) -> list[str]:
    """Lines `FILE:LINE: word, write other` of a page."""
    told = []
    text = re.sub(
        r"\$\$.*?\$\$", lambda match: "\n" * match[0].count("\n"), prose(path.read_text(encoding="utf-8")), flags=re.S
    )
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(("    ", "| `")):  # code; tables of calls with names of their results
            continue
        for token in re.findall(r"[\w.:/-]+", NAMES.sub(" ", line)):
            word = token.strip(".:-/")  # of `generalized-alpha` and `ph.linearize` something is left that is no word
            if word in WORDS:
                told.append(f"{path}:{number}: {word}, write {WORDS[word]}")
    return told


if __name__ == "__main__":
    lines = [line for name in sys.argv[1:] for line in found(Path(name))]
    print("\n".join(lines))
    sys.exit(1 if lines else 0)

"""The numbers of docs/performance.md, from benchmarks/speed.json and benchmarks/gpu_sweep.json: `make generated` writes them,
and in paper/paper.md what was measured when.

In the page they stand between marks, `<!-- speed: NAME … -->` and `<!-- end -->`. A measurement that a part needs and the file has
not ends the making, by name: no number stays that was not measured.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/performance.md"
PAPER = ROOT / "paper/paper.md"
SPEED, SWEEP = ROOT / "benchmarks/speed.json", ROOT / "benchmarks/gpu_sweep.json"
MARKED = re.compile(r"(<!-- speed: (\w+)[^>]*-->\n).*?(\n<!-- end -->)", re.S)
RUNS = {"stewart-platform": "Stewart platform", "n-four-bar-40": "forty four-bars"}
"""The machines whose cold first run the page tells, and what it calls them."""

UNITS = (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")
Data = dict[str, Any]


def chosen(rows: Iterable[Data], **wanted: Any) -> list[Data]:
    """The rows whose fields have these values, at least one; `states` is "one" or "batch"."""
    found = [row for row in rows if all(_field(row, name) == value for name, value in wanted.items())]
    if not found:
        raise LookupError(
            f"benchmarks/speed.json: no row has {', '.join(f'{name} {value}' for name, value in wanted.items())}.\n"
            "docs/performance.md tells it. Measure everything, with the peers installed: "
            "polhode bench --out benchmarks --overwrite"
        )
    return found


def _field(row: Data, name: str) -> Any:
    value = row.get(name)
    return value if name != "states" else ("one" if value == 1 else "batch")


def figures(value: float, digits: int = 2) -> str:
    """A number to so many figures, without a power of ten: 0.17, 57, 1700."""
    rounded = float(f"{value:.{digits - 1}e}")
    return f"{rounded:.0f}" if rounded >= 10 ** (digits - 1) else f"{rounded:.{digits}g}"


def duration(seconds: float) -> str:
    """Two figures and a unit, from a tenth of that unit on."""
    size, unit = next((pair for pair in UNITS if seconds >= pair[0] / 10), UNITS[-1])
    return f"{figures(seconds / size)} {unit}"


def span(values: Iterable[float]) -> str:
    """From the least to the largest."""
    found = sorted(values)
    return f"{figures(found[0])} to {figures(found[-1])}"


def power(value: float) -> str:
    """A number of so many powers of ten: 2.8·10⁹."""
    factor, exponent = f"{value:.1e}".split("e")
    return f"{factor}·10{str(int(exponent)).translate(str.maketrans('0123456789-', '⁰¹²³⁴⁵⁶⁷⁸⁹⁻'))}"


def ratio(rows: Iterable[Data]) -> str:
    """Times as fast, of the first of some rows."""
    return figures(next(iter(rows))["ratio"])


def fast(speed: Data, sweep: Data) -> Iterator[str]:
    """The table of what is fast."""

    def arm(quantity: str, states: str, peer: str = "Pinocchio") -> Data:
        return chosen(speed["rows"], model="arm-7", quantity=quantity, states=states, peer=peer)[0]

    def both(states: str, peer: str) -> str:
        return " and ".join(figures(arm(quantity, states, peer)["ratio"]) for quantity in ("inverse", "forward"))

    def time(quantity: str, states: str) -> str:
        return duration(arm(quantity, states)["ours"]["least"])

    where = f"{speed['machine']['cpu']}, one core, {speed['date']}"
    engine = chosen(speed["simulations"], model="arm-7", timed="engine", peer="MuJoCo", call="rollout")
    lanes = chosen(speed["ensembles"], model="arm-7", rival="MuJoCo rollout")
    loops = {kind: [row["ratio"] for row in chosen(speed["loops"], timed=kind)] for kind in ("engine", "simulate")}
    first = [
        row for row in speed["first_calls"] if row["nv"] <= 38 and row["quantity"] in ("inverse", "forward", "mass")
    ]
    cached = sorted(1e3 * row["cached"] for row in first if row.get("cached"))
    rows = [
        ("what", "how fast", "where measured"),
        ("---",) * 3,
        (
            "one call of inverse or forward dynamics, seven-axis arm",
            (
                f"{time('inverse', 'one')}, {time('forward', 'one')} from Python, a fresh result; {both('one', 'Pinocchio')} times as fast"
                f" as Pinocchio's wheel, {both('one', 'MuJoCo')} times MuJoCo's"
            ),
            where,
        ),
        (
            f"the same for {speed['batch']:,} states",
            f"{time('inverse', 'batch')} and {time('forward', 'batch')} a state: {both('batch', 'Pinocchio')} times Pinocchio's batches",
            "the same",
        ),
        (
            "Christoffel symbols of the arm",
            (
                f"{time('christoffel', 'one')}; {figures(arm('christoffel', 'one')['ratio'])} times as fast as what Pinocchio takes for them"
                " (n Coriolis matrices)"
            ),
            "the same",
        ),
        (
            "1000 RK4 steps of the arm, in compiled code",
            f"{duration(engine[0]['ours']['least'])}; {ratio(engine)} times as fast as MuJoCo's rollout",
            "the same",
        ),
        (
            f"the same in lanes, {lanes[0]['runs']} runs at once",
            f"{duration(lanes[0]['ours']['least'])} a step of one run; {ratio(lanes)} times MuJoCo's rollout",
            "the same",
        ),
        (
            "closed loops at equal accuracy",
            (
                f"{span(loops['engine'])} times as fast as Exudyn, runs alone; {span(loops['simulate'])} times with everything"
                " `ph.simulate` does"
            ),
            "the same",
        ),
        (
            f"RK4 steps of {sweep['runs']:,} arms on a GPU",
            (
                f"{power(sweep['double steps/s, last states only'])} steps a second in double,"
                f" {power(sweep['single steps/s, last states only'])} in single; {figures(sweep['MJX double ratio'], 3)} and"
                f" {figures(sweep['MJX single ratio'], 3)} times MuJoCo's MJX on the same GPU"
            ),
            f"{sweep['device'].removeprefix('cuda ')}, {sweep['date']}",
        ),
        (
            "first result of a new model, cold",
            f"{span(row['cold'] for row in first)} s for dynamics of up to 38 velocities; {span(cached)} ms from the cache on disk",
            f"{speed['machine']['cpu']}, wall clock, {speed['date']}",
        ),
    ]
    yield from (f"| {' | '.join(row)} |" for row in rows)


def slow(speed: Data, _sweep: Data) -> Iterator[str]:
    """What is not fast, where it was raced: whole calls, and gcc on the same graph."""
    whole = chosen(speed["simulations"], model="arm-7", timed="simulate", peer="MuJoCo", call="rollout")[0]
    yield (
        f"- **Small runs.** A graded `ph.simulate` has a price however short the motion: of 1000 RK4 steps of the arm the whole call takes"
        f" {duration(whole['ours']['least'])}, MuJoCo's rollout, which grades nothing, {duration(whole['theirs']['least'])}."
        " For inner loops use `ph.simulator(…).step`, for many runs `ph.sweep`."
    )
    gcc = chosen(speed["rows"], peer="CasADi + gcc")
    one = [row for row in gcc if row["states"] == 1]
    yield (
        "- **Against gcc on the same graph** (CasADi's C code through `gcc -O3`) one call of dynamics is"
        f" {span(row['ratio'] for row in one if row['quantity'] != 'derivatives')} times as fast, of derivatives"
        f" {span(row['ratio'] for row in one if row['quantity'] == 'derivatives')} times. Batches are"
        f" {span(row['ratio'] for row in gcc if row['states'] > 1)} times as fast."
    )
    if runs := {row["model"]: row for row in speed.get("first_runs", [])}:
        told = ", ".join(f"{called} {figures(runs[name]['cold'])} s" for name, called in RUNS.items() if name in runs)
        least = min(runs.values(), key=lambda row: row["cold"])
        yield (
            f"- **First runs** of a process with an empty cache, imports included: {least['model']} {figures(least['cold'])} s, {told}"
            f" (wall clock, {speed['date']})."
        )


PARTS: dict[str, Callable[[Data, Data], Iterator[str]]] = {"fast": fast, "slow": slow}
"""What stands between the marks of each name."""


def page(text: str, speed: Data, sweep: Data) -> str:
    """The page with its numbers as they were measured."""
    found = [match[2] for match in MARKED.finditer(text)]
    assert sorted(found) == sorted(PARTS), f"the marks of docs/performance.md: {found}"
    return MARKED.sub(lambda match: match[1] + "\n".join(PARTS[match[2]](speed, sweep)) + match[3], text)


def performance_page() -> str:
    """docs/performance.md as it must be."""
    speed, sweep = (json.loads(path.read_text(encoding="utf-8")) for path in (SPEED, SWEEP))
    return page(PAGE.read_text(encoding="utf-8"), speed, sweep)


def paper(text: str, speed: Data) -> str:
    """The paper with the peer, the processor and the date of the speeds that its figure shows."""
    made = f"relative to Pinocchio {speed['versions']['pinocchio'].rpartition('.')[0]} (wheels, one core of an {speed['machine']['cpu']}, {speed['date']};"
    found, count = re.subn(r"relative to Pinocchio [^(]*\(wheels, one core of an? [^;]*;", made, text)
    assert count == 1, "the caption of the speeds in paper/paper.md"
    return found


def paper_page() -> str:
    """paper/paper.md as it must be."""
    return paper(PAPER.read_text(encoding="utf-8"), json.loads(SPEED.read_text(encoding="utf-8")))

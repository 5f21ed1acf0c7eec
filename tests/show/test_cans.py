"""Cans in series: the geometry the drawing is built from, and the drawing itself."""

import os
import shutil
import unicodedata
import xml.etree.ElementTree as ET
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib import get_data_path
from matplotlib.path import Path as Outline

import polhode as ph
import tools
from polhode import euler
from polhode.cli import main
from polhode.show.cans.arrows import Look, Seen, arrow_curve, lost_layer
from polhode.show.cans.chain import chain_of
from polhode.show.cans.draw import draw_cans
from polhode.show.cans.frames import frames_of
from polhode.show.cans.layout import assemble
from polhode.show.cans.names import angle_name
from polhode.show.cans.picture import draw_scene, fills, loop_ends, mark_direction
from polhode.show.cans.stages import stage_drawing
from polhode.show.cans.theme import THEMES, contrast, styles
from polhode.show.vector.geometry import View, visible_pieces
from polhode.show.vector.labels import AIR, overlap
from polhode.show.vector.pen import SIZE, SMALL
from polhode.show.vector.typeface import letter

ALL = [*euler.SEQUENCES, *(f"extrinsic-{name}" for name in euler.SEQUENCES)]
SVG = "{http://www.w3.org/2000/svg}"
ANGLES = (-50, 25)
"""A view that is given: to look for the best one takes longer than to draw."""
VIEW = View.of(*ANGLES)
ROUNDING = 1e-12
SLACK = 0.03
"""Radii by which solids are made larger or smaller, so that no ray is in doubt."""
SMALLEST_PRINT = 2.3
"""Size of the smallest words, mm: 6.5 points."""
NASTY = "</text><script>alert(1)</script>&amp;'\"<b>"


def angles(seed):
    return np.random.default_rng(seed).uniform(-2.5, 2.5, 3)


def joint(name, kind="revolute", **data):
    parent, child = data.pop("parent", "world"), data.pop("child", name + "-body")
    return ph.Joint(name, kind, parent, child, **data), ph.Body(child, 1.0, (0.1, 0.1, 0.1), center=(0.2, 0, 0))


def machine(*made):
    joints, bodies = zip(*made, strict=True)
    return ph.Model("machine", bodies=bodies, joints=joints)


# what is drawn, in space


@pytest.mark.parametrize("sequence", ALL)
def test_the_cans_turn_about_the_axes_of_the_rates_in_their_order(sequence):
    at = angles(1)
    found = {turn.name: turn.axis for turn in chain_of(sequence, at).turns}
    axes = euler.rate_axes(sequence, at)
    for name, axis in zip("φθψ", axes, strict=True):
        assert np.allclose(found[name], axis, atol=ROUNDING)
    order = [turn.name for turn in chain_of(sequence, at).turns]
    assert order == list("ψθφ" if sequence.startswith("extrinsic") else "φθψ")


@pytest.mark.parametrize("sequence", ALL)
def test_frames_at_the_can_ends_are_the_partial_products_of_the_rotation_matrix(sequence):
    at = angles(2)
    assembly = assemble(chain_of(sequence, at))
    frames = frames_of(assembly, VIEW, "all")
    digits = [int(d) for d in sequence[-3:]]
    factors = [euler.elementary_matrix(d, u) for d, u in zip(digits, at, strict=True)]
    factors = factors[::-1] if sequence.startswith("extrinsic") else factors
    R = np.eye(3)
    assert np.array_equal(frames[0].axes, R)
    for frame, factor in zip(frames[1:], factors, strict=True):
        R = R @ factor
        assert np.allclose(frame.axes, R, atol=ROUNDING)
    assert np.allclose(frames[-1].axes, euler.matrix(sequence, at), atol=ROUNDING)
    for frame, pair in zip(frames[1:], assembly.pairs, strict=True):
        assert np.allclose(np.cross(frame.origin - pair.end, pair.turn.axis), 0, atol=1e-9)


@pytest.mark.parametrize("sequence", euler.SEQUENCES)
def test_a_pair_stands_on_one_axis_and_its_rod_is_carried_by_the_pair_before(sequence):
    one, other = (assemble(chain_of(sequence, angles(seed))) for seed in (3, 4))
    for assembly in (one, other):
        for pair in assembly.pairs:
            line = np.array([pair.first.start, pair.first.end, pair.second.start, pair.second.end])
            assert np.all(np.diff((line - line[0]) @ pair.turn.axis) > 0)
            assert np.allclose(np.cross(line - line[0], pair.turn.axis), 0, atol=1e-9)
    for k in (1, 2):  # the link between two pairs is one rigid piece whatever the angles are
        links = []
        for assembly in (one, other):
            holder, pair = assembly.pairs[k - 1], assembly.pairs[k]
            links.append(holder.turn.after.T @ (pair.first.middle - holder.hub))
        assert np.allclose(*links, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_every_arrow_turns_right_handed_about_its_axis(seed):
    rng = np.random.default_rng(seed)
    view = View.of(rng.uniform(-180, 180), rng.uniform(-80, 80))
    what = [ALL[seed % len(ALL)], "manipulator", "rprr", "arm-6"][seed % 4]
    assembly = assemble(chain_of(what))
    for layer in draw_scene(assembly, view, Look()).layers:
        if layer.id.startswith("arrow-"):
            pair = assembly.pairs[int(layer.id[6:]) - 1]
            for curve in layer.items[0].pieces:
                t = np.linspace(curve.t0, curve.t1, 9)
                assert curve.t1 > curve.t0
                if pair.turn.symbol == "prismatic":
                    assert np.all(curve.rate(t) @ pair.turn.axis > 0)
                else:
                    radius = curve.at(t) - pair.second.start
                    assert np.all(np.cross(radius, curve.rate(t)) @ pair.turn.axis > 0.5)
            assert set(layer.items[0].heads) <= {0, 1}  # a head only where the arrow ends


def test_the_arrow_of_a_rotation_follows_a_point_of_the_second_can():
    pair = assemble(chain_of("321", angles(5))).pairs[1]
    curve = arrow_curve(pair, VIEW)
    turned = euler.elementary_matrix(2, 1e-6)  # the middle axis of 321, in the frame before it
    step = pair.turn.before @ turned @ pair.turn.before.T
    x = curve.at(0.3) - pair.second.start
    assert np.cross(x, (step @ x - x) / 1e-6) @ np.cross(x, curve.rate(0.3)) > 0


@pytest.mark.parametrize("pitch", [0.01, -0.01])
def test_a_screw_has_a_helix_of_its_own_hand(pitch):
    pair = assemble(chain_of(machine(joint("nut", "screw", pitch=pitch)))).pairs[0]
    assert np.sign(arrow_curve(pair, VIEW).rate(0.1) @ pair.turn.axis) == np.sign(pitch)


def test_a_telescope_stands_out_further_when_it_is_pulled():
    lengths = [assemble(chain_of("rprr", [0, q, 0.8, -0.4])).pairs[1] for q in (-0.1, 0.0, 0.15)]
    out = [float((pair.end - pair.first.end) @ pair.turn.axis) for pair in lengths]
    assert out[0] < out[1] < out[2]
    assert lengths[0].second.radius < lengths[0].first.radius


@pytest.mark.parametrize("angle", [-2.0, 0.0, 0.7, 3.0])
def test_the_marks_on_the_cans_are_apart_by_the_angle(angle):
    turn = chain_of("313", [angle, 0.3, 0.1]).turns[0]
    e = mark_direction(turn, VIEW)
    turned = turn.after @ turn.before.T @ e
    assert np.allclose(np.arctan2(np.cross(e, turned) @ turn.axis, e @ turned), angle, atol=ROUNDING)


@pytest.mark.parametrize("sequence", ALL)
def test_the_direction_lost_at_gimbal_lock_is_the_one_the_rates_cannot_reach(sequence):
    proper = sequence[-3] == sequence[-1]
    at = angles(6) * [1, 0, 1] + [0, 0.0 if proper else np.pi / 2, 0]
    assembly = assemble(chain_of(sequence, at))
    (lost,) = assembly.chain.lost
    U, s, _ = np.linalg.svd(euler.space_rate_matrix(sequence, at))
    assert s[2] < 1e-12
    assert abs(lost.direction @ U[:, 2]) == pytest.approx(1, abs=1e-9)
    layer = lost_layer(0, lost, assembly, Seen(VIEW, ()))
    (drawn,) = layer.items[0].pieces
    assert np.allclose(np.cross(drawn.w, U[:, 2]), 0, atol=1e-9)
    assert layer.items[0].heads == (2,)
    assert layer.notes[0].runs[0].text == "lost direction"


def test_away_from_lock_no_direction_is_lost():
    assert not chain_of("313", [0.3, 0.01, 0.2]).lost
    assert "lost direction" not in draw_cans("313", at=[0.3, 0.5, 0.2], view=ANGLES).svg
    assert "lost direction" not in draw_cans("313", lost=False, view=ANGLES).svg
    assert "lost direction" in draw_cans("heavy-top", sequence="313", at=[1, 0, 0, 0], view=ANGLES).svg


@pytest.mark.parametrize("sequence", ["313", "extrinsic-321"])
def test_rates_are_drawn_along_their_axes_and_add_up_to_the_angular_velocity(sequence):
    at, rates = angles(7), np.array([0.5, -1.0, 0.8])
    assembly = assemble(chain_of(sequence, at))
    order = list(assembly.chain.order)
    drawing = draw_scene(assembly, VIEW, Look(rates=rates[order], total=True))
    vectors = {layer.id: layer.items[0] for layer in drawing.layers if layer.id.startswith(("rate", "omega"))}
    assert len(vectors) == 4
    omega = euler.angular_velocity_space(sequence, at, rates)
    drawn = vectors["omega"].pieces[0].w
    assert np.allclose(drawn / np.linalg.norm(drawn), omega / np.linalg.norm(omega), atol=1e-9)


@pytest.mark.parametrize("sequence", ALL)
def test_the_classical_stages_turn_the_old_axes_into_the_new(sequence):
    at = angles(9)
    chain = chain_of(sequence, at)
    for k, turn in enumerate(chain.turns):
        arcs = [layer for layer in stage_drawing(chain, k, VIEW).layers if layer.id.startswith("angle")]
        for stroke in arcs[0].items:
            (curve,), new = stroke.pieces, turn.after.T
            start, end = (x / np.linalg.norm(x) for x in (curve.at(curve.t0), curve.at(curve.t1)))
            i = int(np.argmax(turn.before.T @ start))
            assert np.allclose(start, turn.before[:, i], atol=1e-9)
            assert np.allclose(end, new[i], atol=1e-9)
            assert stroke.heads == (1,)


@pytest.mark.parametrize("name", ["manipulator", "rprr", "arm-6", "puma-560", "double-pendulum"])
@pytest.mark.filterwarnings("ignore::polhode.PolhodeWarning")
def test_cans_of_a_machine_have_the_attitudes_of_its_bodies(name):
    model = ph.load(name)
    q = np.random.default_rng(8).uniform(-0.2, 0.2, model.nq)
    chain, system = chain_of(model, q), ph.compile(model, target="python")
    carried = {turn.name: turn for turn in chain.turns}
    for one in model.joints:
        R = ph.quaternion.rotation_matrix(system.pose(q, one.child)[1])
        if one.name in carried:
            assert np.allclose(carried[one.name].after, R, atol=1e-9)
            assert np.allclose(carried[one.name].axis, R @ np.array(one.axis) / np.linalg.norm(one.axis), atol=1e-9)


def test_branches_of_a_tree_stand_apart():
    assembly = assemble(chain_of("bicycle", sequence="312"))
    assert sorted(tip.tip.name for tip in assembly.tips if tip.tip.wheel) == ["front-wheel", "rear-wheel"]
    rng = np.random.default_rng(0)
    for one, two in combinations(assembly.pairs, 2):
        for a in (one.first, one.second):
            for b in (two.first, two.second):
                x = rng.uniform(-1, 1, (2000, 3)) * 1.6 + a.middle
                assert not np.any(a.holds(x) & b.holds(x))


# hidden lines and order, against rays that are followed step by step


def inside(x, solid, larger):
    """Which points are in a solid made larger: written without the drawing's own geometry."""
    w = x - solid.start
    s = np.einsum("...i,i", w, solid.axis)
    r2 = np.einsum("...i,...i", w, w) - s**2
    return (s > -larger) & (s < solid.length + larger) & (r2 < (solid.radius + larger) ** 2)


def blocked(x, view, solids, larger, step=0.02):
    """Which points (n, 3) cannot be seen, by walking from each towards the viewer."""
    reach = max(float(s.middle @ view.toward) for s in solids) - (x @ view.toward).min(initial=0) + 4
    walk = np.arange(step, reach, step)[:, None] * view.toward
    found = np.zeros(len(x), bool)
    for solid in solids:
        flat = view.page(x) - view.page(solid.middle)
        near = np.linalg.norm(flat, axis=1) < np.hypot(solid.length / 2, solid.radius) + larger
        if near.any():
            found[near] |= inside(x[near][:, None] + walk, solid, larger).any(1)
    return found


def scene(seed):
    rng = np.random.default_rng(seed)
    view = View.of(rng.uniform(-180, 180), rng.uniform(-85, 85))
    names = ("manipulator", "rprr", "arm-6")
    if seed % 3 == 2:
        return assemble(chain_of(names[seed % 9 // 3])), view
    return assemble(chain_of(ALL[rng.integers(len(ALL))], rng.uniform(-3, 3, 3))), view


@pytest.mark.parametrize("seed", range(20))
def test_visible_lines_are_those_that_rays_find_visible(seed):
    assembly, view = scene(seed)
    solids = assembly.solids
    curves = [(curve, {i}) for i, solid in enumerate(solids) for curve in solid.outline(view)]
    curves += [(arrow_curve(pair, view), set()) for pair in assembly.pairs]
    shown, hidden = [], []
    for curve, own in curves:
        pieces = visible_pieces(curve, view, solids, own)
        ends = [curve.t0, *(t for piece in pieces for t in (piece.t0, piece.t1)), curve.t1]
        shown += [curve.at(np.linspace(piece.t0, piece.t1, 7)[1:-1]) for piece in pieces]
        hidden += [curve.at(np.linspace(a, b, 7)[1:-1]) for a, b in zip(ends[::2], ends[1::2], strict=True) if b > a]
    shown, hidden = np.concatenate(shown), np.concatenate([*hidden, np.zeros((0, 3))])
    assert len(shown) > 100
    assert not blocked(shown, view, solids, -SLACK).any()
    assert blocked(hidden, view, solids, SLACK).all()


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_painted_over_what_they_stand_in_front_of(seed):
    assembly, view = scene(seed)
    parts = {part.id: part for part in assembly.parts}
    layers = [layer.id for layer in draw_scene(assembly, view, Look("none", lost=False)).layers if layer.id in parts]
    flat = np.concatenate([view.page(np.array([s.start, s.end])) for s in assembly.solids])
    points = np.random.default_rng(seed).uniform(flat.min(0) - 1, flat.max(0) + 1, (250, 2))
    painted = np.full(len(points), -1)
    for k, name in enumerate(layers):
        for _, edges in fills(parts[name].shape, view):
            around = [e if isinstance(e, np.ndarray) else e.at(np.linspace(e.t0, e.t1, 60)) for e in edges]
            painted[Outline(view.page(np.concatenate(around))).contains_points(points)] = k
    rays = points @ view.axes[:2]
    depth = [float(s.middle @ view.toward) for s in assembly.solids]
    steps = np.arange(max(depth) + 4, min(depth) - 4, -0.02)[:, None] * view.toward  # from the viewer

    def met(name, larger):
        hit = inside(rays[:, None] + steps, parts[name].shape.body, larger)
        return np.where(hit.any(1), hit.argmax(1) * 0.02, np.inf)

    nearest = np.min([met(name, -SLACK) for name in layers], axis=0)
    seen = np.isfinite(nearest)
    assert seen.sum() > 12
    assert np.all(painted[seen] >= 0)
    tops = np.array([met(name, SLACK) for name in layers])[painted[seen], np.flatnonzero(seen)]
    assert np.all(tops < nearest[seen] + SLACK)


# the page


PICTURES = {
    **{name: {} for name in euler.SEQUENCES},
    "extrinsic-321": {"at": (0.3, 0.4, 0.5), "values": True},
    "313 rates": {"at": (0.5, 0.7, 0.6), "rates": (1, 0.8, 1.2)},
    "313 panels": {"panels": True},
    "321 classical": {"classical": True},
    "manipulator": {"rates": True, "frames": "all"},
    "rprr": {"values": True},
    "bicycle": {"sequence": "312"},
    "arm-7": {},
    "spacecraft": {"sequence": "321", "width": 120},
}


@cache
def drawn(name):
    """One of these pictures, drawn once."""
    return draw_cans(name.split()[0], **PICTURES.get(name, {}))


@pytest.mark.parametrize("name", PICTURES)
def test_names_never_touch_and_never_leave_the_page(name):
    picture = drawn(name)
    wide, high = picture.size
    boxes = np.array([box for _, box in picture.names])
    assert len(boxes) >= 4
    assert boxes[:, :2].min() >= 0
    assert np.all(boxes[:, 2] <= wide)
    assert np.all(boxes[:, 3] <= high)
    for a, b in combinations(boxes, 2):
        assert overlap(a, b) == 0


@pytest.mark.parametrize("name", ["arm-7", pytest.param("quadruped", marks=pytest.mark.long)])
def test_pictures_of_more_than_six_turns_are_wide_enough_for_their_names(name):
    picture = draw_cans(name)
    assert picture.size[0] == pytest.approx(160)
    assert len(picture.names) > 7
    for (_, a), (_, b) in combinations(picture.names, 2):
        assert overlap(a, b) == 0


@pytest.mark.parametrize("name", ["313", "bicycle"])
def test_names_can_be_read_in_a_column_of_8_cm(name):
    picture = drawn(name)
    assert picture.size[0] == pytest.approx(80)
    root = ET.fromstring(picture.svg)
    assert root.get("width") == "80mm"
    scale = 80 / float(root.get("viewBox").split()[2])
    sizes = {float(text.get("font-size")) * scale for text in root.iter(f"{SVG}text")}
    assert min(sizes) >= SMALLEST_PRINT
    assert np.allclose(sorted(sizes), np.array([SMALL, SIZE]) * 25.4 / 72, atol=1e-3)


@pytest.mark.parametrize("theme", THEMES)
def test_lines_and_names_stand_out_from_the_paper(theme):
    for name, style in styles(THEMES[theme]).items():
        if name.startswith(("axis", "arrow", "rate", "omega", "lost", "body", "edge")):
            assert contrast(style.stroke or style.fill, THEMES[theme].paper) >= 4.5


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("alpha", "α"),
        ("theta_B", "θB"),
        ("q1", "q1"),
        ("hip", "hip"),
        ("psi_2", "ψ2"),
        ("θ′", "θ′"),
        ("x_long", "x_long"),
    ],
)
def test_symbols_are_set_as_symbols_and_words_as_words(name, text):
    runs = angle_name(name)
    assert "".join(run.text for run in runs) == text
    assert runs[0].italic == (text != name or len(runs) > 1)
    assert [run.script for run in runs[1:]] == [-1] * (len(runs) - 1) or "′" in text


def test_names_from_a_file_mean_nothing_to_the_page():
    model = machine(joint(NASTY, child="b"), joint("]]>", parent="b", child=NASTY + "2"))
    root = ET.fromstring(draw_cans(model).svg)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags == {"svg", "title", "desc", "style", "rect", "g", "path", "text"} | ({"tspan"} & tags)
    assert NASTY in "".join(root.itertext())


def test_the_svg_is_made_to_be_edited():
    root = ET.fromstring(draw_cans("313", rates=True).svg)
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert {"can-1-a", "can-3-b", "rod-2", "frame-0", "arrow-2", "names", "lost-1", "plate-1"} <= set(ids)
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert {"φ", "θ", "ψ", "x", "ξ", "ζ′", "z′", "ωφ", "lost direction"} <= set(texts)
    sheet = root.find(f"{SVG}style").text
    for element in root.iter(f"{SVG}path"):
        assert f".{element.get('class')} {{" in sheet


BOXES = """() => [...document.querySelectorAll('text.words')].map(t => {
    const b = t.previousElementSibling.getBBox(), x = t.getStartPositionOfChar(0).x;
    return [t.textContent, b.x, b.y, b.x + b.width, b.y + b.height, x, x + t.getComputedTextLength()]; })"""
"""Of every name: its letters as they are drawn, and the ends of the text that goes with them."""


@pytest.mark.parametrize("name", ["313 panels", "313", "bicycle", "manipulator"])
def test_a_browser_opens_it_and_sets_the_names_where_they_were_planned(name, browser, tmp_path):
    picture = drawn(name)
    (tmp_path / "cans.svg").write_text(picture.svg, encoding="utf-8")
    errors, requests = [], []
    page = browser.new_page()
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto((tmp_path / "cans.svg").as_uri())
    found = page.evaluate(BOXES)
    page.close()
    assert errors == []
    assert len(requests) == 1
    planned = [(text, box * 72 / 25.4) for text, box in picture.names]
    names = [(text, np.array(box)) for text, *box in found if not text.startswith("(")]
    assert [text for text, _ in names] == [text for text, _ in planned]
    for (_, a), (_, b) in combinations(names, 2):
        assert overlap(a[:4], b[:4]) == 0
    for (_, box), (_, room) in zip(names, planned, strict=True):
        larger = room + AIR * np.array([-1, -1, 1, 1])  # italics lean over by less than the air between
        assert np.all(box[:2] >= larger[:2])
        assert np.all(box[2:4] <= larger[2:])
        assert np.allclose(box[4:], room[[0, 2]], atol=0.02)  # as wide, whatever the font


@pytest.mark.parametrize("font", ["DejaVuSansMono-Bold", "cmb10", None])
def test_it_looks_the_same_whatever_fonts_a_machine_has(font, browser, tmp_path):
    picture = draw_cans("313", rates=True, values=True, names=("Łokieć", "колено_2", "θ_B"), view=ANGLES)
    (tmp_path / "cans.svg").write_text(picture.svg, encoding="utf-8")
    (tmp_path / "fonts").mkdir()
    if font:
        shutil.copy(f"{get_data_path()}/fonts/ttf/{font}.ttf", tmp_path / "fonts")
    (tmp_path / "fonts.conf").write_text(
        f"<fontconfig><dir>{tmp_path}/fonts</dir><cachedir>{tmp_path}/cache</cachedir></fontconfig>"
    )
    environment = {**os.environ, "FONTCONFIG_FILE": str(tmp_path / "fonts.conf")}
    other = browser.browser_type.launch(executable_path=tools.browser(), args=tools.ARGUMENTS, env=environment)
    shots = []
    for each in (browser, other):
        page = each.new_page(viewport={"width": 600, "height": 600})
        page.goto((tmp_path / "cans.svg").as_uri())
        shots.append(page.screenshot())
        page.close()
    other.close()
    assert shots[0] == shots[1]


@pytest.mark.parametrize("name", ["関節", "كوع", "x関節2", "a\u0301b", "🤖"])
def test_letters_that_the_typeface_lacks_are_left_to_the_viewer_in_their_planned_width(name):
    picture = draw_cans("321", names=(name, "θ", "ψ"), view=ANGLES)
    texts = {"".join(text.itertext()): text for text in ET.fromstring(picture.svg).iter(f"{SVG}text")}
    boxes = {text: (box[2] - box[0]) * 72 / 25.4 for text, box in picture.names}
    assert float(texts[name].get("textLength")) == pytest.approx(boxes[name], abs=0.01)
    lacked = "".join(character for character in name if letter(character) is None)
    assert lacked
    assert lacked in texts
    assert texts[lacked].get("class") != "words" or lacked == name


def test_every_letter_of_the_typeface_is_a_closed_outline_near_its_line():
    for code in (*range(0x20, 0x17F), *range(0x391, 0x3CA), *range(0x410, 0x450)):
        for face in ({}, {"italic": True}, {"italic": True, "bold": True}):
            found = letter(chr(code), **face)
            if found is None or not found.outline:
                assert not chr(code).isalnum() or code in (0x149,) or unicodedata.category(chr(code)) == "Cn", hex(code)
                continue
            assert found.outline[0][0] == "M"
            assert [name for name, _ in found.outline].count("M") == [name for name, _ in found.outline].count("Z")
            points = np.array([point for _, some in found.outline for point in some])
            assert points.min() > -0.4
            assert points[:, 0].max() < found.advance + 0.25
            assert points[:, 1].max() < 1.1


@pytest.mark.parametrize(("suffix", "head"), [(".pdf", b"%PDF"), (".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_it_is_written_whole_in_every_kind(suffix, head, tmp_path):
    path = tmp_path / f"cans{suffix}"
    draw_cans("321", path, theme="dark", names=("ψ", "θ", "φ"), view=ANGLES)
    assert path.read_bytes().startswith(head)
    assert b"polhode" in path.read_bytes()
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_call_gives_the_same_file():
    assert draw_cans("232").svg == drawn("232").svg


# wrong input


@pytest.mark.parametrize(
    ("what", "options", "words"),
    [
        ("311", {}, "unknown sequence"),
        ("extrinsic-112", {}, "unknown sequence"),
        ("zxz", {}, "Was '313' meant"),
        (313, {}, "in quotes"),
        (3.5, {}, "nothing to draw"),
        ("no-such-model", {}, "no bundled model"),
        ("heavy-top", {"sequence": "331"}, "unknown sequence"),
        ("heavy-top", {"sequence": "311"}, "unknown sequence"),
        ("313", {"sequence": "321"}, "is for models"),
        ("chain-50", {}, "too many motions"),
        ("313", {"at": (1, 2)}, "3 finite numbers"),
        ("313", {"at": (1, 2, np.nan)}, "3 finite numbers"),
        ("313", {"at": "abc"}, "3 finite numbers"),
        ("313", {"rates": (1, 2)}, "3 finite numbers"),
        ("313", {"view": (1,)}, "2 finite numbers"),
        ("313", {"names": ("a", "b")}, "3 texts"),
        ("313", {"names": ("a", "b", "")}, "3 texts"),
        ("313", {"names": {"alpha": "β"}}, "φ, θ, ψ"),
        ("313", {"theme": "pink"}, "'light' or 'dark'"),
        ("313", {"frames": "some"}, "'all' or 'ends'"),
        ("313", {"width": 3}, "40 … 2000 mm"),
        ("manipulator", {"panels": True}, "is for sequences"),
        ("manipulator", {"classical": True}, "is for sequences"),
        ("heavy-top", {"sequence": "321", "at": (2, 0, 0, 0)}, "norm 2"),
        ("313", {"path": "/no/such/folder/cans.svg"}, "folder is missing"),
        ("313", {"path": "/proc/cans.svg"}, "cannot be written"),
        ("313", {"path": "cans.gif"}, "unknown kind of picture"),
    ],
)
def test_wrong_input_is_told_with_what_was_expected(what, options, words):
    with pytest.raises((ph.PolhodeError, ValueError), match=r"found .*; expected") as caught:
        draw_cans(what, **options)
    assert words in str(caught.value)


def test_a_model_that_cannot_move_is_told():
    with pytest.raises(ph.ModelError, match="nothing turns or slides"):
        draw_cans(machine(joint("weld", "fixed")))


def test_the_command_draws_a_sequence_and_a_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = lambda *args: CliRunner().invoke(main, ["draw", *args])
    found = run("313", "--out", "cans.svg", "--at", "30deg,0,pi/6", "--rate", "1,2,3", "--names", "psi,theta,phi")
    assert found.exit_code == 0, found.output
    texts = "".join(ET.parse("cans.svg").getroot().itertext())
    assert "lost direction" in texts
    assert "draw 313, at [0.523599, 0.0, 0.523599]" in texts
    assert run("manipulator", "--theme", "dark", "--view=-50deg,20deg").exit_code == 0
    assert ET.parse("manipulator-cans.svg").getroot().get("width") == "80mm"
    again = run("313", "--out", "cans.svg")
    assert again.exit_code == 2
    assert "there already" in again.output
    wrong = run("311")
    assert wrong.exit_code == 2
    assert "unknown sequence" in wrong.output
    assert run("313", "--at", "1,2,x").exit_code == 2


def test_a_closed_loop_is_a_dashed_line_between_what_its_constraint_joins():
    picture = draw_cans("four-bar")
    (assembly,) = picture.assemblies
    (loop,) = assembly.chain.loops
    assert loop.name == "closing"
    assert [assembly.chain.turns[k].name for k in loop.turns] == ["knee", "pivot"]
    places = {placed.tip.name: placed.place for placed in assembly.tips}
    first, second = loop_ends(assembly, 0)
    assert np.array_equal(first, places["coupler"])
    assert np.array_equal(second, places["rocker"])
    assert ">closing<" in picture.svg
    assert "closing" in [name for name, _ in picture.names]
    assert not assemble(chain_of("manipulator")).chain.loops


def test_balls_and_flying_bodies_are_drawn_by_the_usual_angles():
    for name, sequence in (("heavy-top", "313"), ("bicycle", "321")):
        assert draw_cans(name, view=ANGLES).svg == draw_cans(name, sequence=sequence, view=ANGLES).svg

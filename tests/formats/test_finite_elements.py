"""Matrices of finite elements from files: the same from every kind; files that are wrong or made to deceive."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite

import polhode as ph
from finite_elements import beam
from polhode.formats.finite_elements.bounded import MOST_BYTES
from polhode.formats.finite_elements.read import read_finite_elements

M, K, NODES = beam(4)
LABELS = np.array([3, 10, 20, 31, 77])
FREEDOMS = [(label, direction) for label in LABELS for direction in range(1, 7)]


def write_npz(folder):
    np.savez(folder / "beam.npz", M=M, K=K, nodes=NODES, labels=LABELS)
    return folder / "beam.npz"


def write_sparse_npz(folder):
    rows, parts = sparse.csr_matrix(K), sparse.coo_matrix(M)
    np.savez(
        folder / "beam.npz", K_data=rows.data, K_indices=rows.indices, K_indptr=rows.indptr, K_shape=rows.shape,
        M_data=parts.data, M_row=parts.row, M_col=parts.col, nodes=NODES, labels=LABELS,
    )  # fmt: skip
    return folder / "beam.npz"


def write_mtx(folder):
    mmwrite(folder / "m.mtx", sparse.coo_matrix(M), symmetry="symmetric", precision=17)
    mmwrite(folder / "k.mtx", K, symmetry="general", precision=17)
    lines = [f"{label}, {x!r}, {y!r}, {z!r}" for label, (x, y, z) in zip(LABELS, NODES.tolist(), strict=True)]
    (folder / "nodes.txt").write_text("# number, x, y, z\n" + "\n".join(lines))
    return {"mass": folder / "m.mtx", "stiffness": folder / "k.mtx", "nodes": folder / "nodes.txt"}


def write_calculix(folder):
    for name, matrix in (("sti", K), ("mas", M)):
        entries = [(i, j) for i in range(len(K)) for j in range(i + 1) if matrix[i, j]]
        text = "".join(f"{i + 1} {j + 1} {matrix[i, j]:.16e}\n" for i, j in entries)
        (folder / f"beam.{name}").write_text(text)
    (folder / "beam.dof").write_text("".join(f"{node}.{direction}\n" for node, direction in FREEDOMS))
    nodes = "".join(f"{label}, {x:.17g}, {y}, {z}\n" for label, (x, y, z) in zip(LABELS, NODES.tolist(), strict=True))
    (folder / "beam.inp").write_text(f"** a beam\n*NODE, NSET=Nall\n{nodes}*ELEMENT, TYPE=B31\n1, 3, 10\n")
    return folder / "beam.sti"


def write_nastran(folder):
    lines = ["$ a beam", "BEGIN BULK"]
    for label, (x, y, z) in zip(LABELS, NODES.tolist(), strict=True):
        lines += [f"GRID,{label},,{x:.8f},{y:.1f},{z:.1f}"]
    for name, matrix in (("KAAX", K), ("MAAX", M)):
        lines.append(f"DMIG    {name:8}{0:8}{6:8}{2:8}{0:8}")
        for j, (node, direction) in enumerate(FREEDOMS):
            lines.append(f"DMIG*   {name:16}{node:16}{direction:16}")
            for i in range(j, len(K)):
                if matrix[i, j]:
                    value = f"{matrix[i, j]:.9E}".replace("E", "D")
                    lines.append(f"*       {FREEDOMS[i][0]:16}{FREEDOMS[i][1]:16}{value:>16}")
    (folder / "beam.pch").write_text("\n".join([*lines, "ENDDATA"]))
    return folder / "beam.pch"


@pytest.mark.parametrize("write", [write_npz, write_sparse_npz, write_mtx, write_calculix, write_nastran])
def test_every_kind_of_file_gives_the_same_matrices(write, tmp_path):
    found = read_finite_elements(write(tmp_path))
    digits = 1e-9 if write is write_nastran else 1e-14
    np.testing.assert_allclose(found.K.toarray(), K, rtol=0, atol=digits * np.max(K))
    np.testing.assert_allclose(found.M.toarray(), M, rtol=0, atol=digits * np.max(M))
    np.testing.assert_allclose(found.nodes, NODES, rtol=0, atol=1e-12)
    assert found.labels.tolist() == LABELS.tolist()
    assert found.freedoms.tolist() == [[k // 6, k % 6] for k in range(30)]


def write_as_calculix(folder):
    """As ccx writes them: the upper half, column by column, 13 digits; nodes whose last coordinates are left out."""
    for name, matrix in (("sti", K), ("mas", M)):
        entries = [(i, j) for j in range(len(K)) for i in range(j + 1) if matrix[i, j]]
        (folder / f"beam.{name}").write_text("".join(f"{i + 1} {j + 1} {matrix[i, j]:20.13e}\n" for i, j in entries))
    (folder / "beam.dof").write_text("".join(f"{node}.{direction}\n" for node, direction in FREEDOMS))
    nodes = "".join(f"{label:8d},{x:20.13E}\n" for label, (x, _, _) in zip(LABELS, NODES.tolist(), strict=True))
    step = "*STEP\n*FREQUENCY, SOLVER=MATRIXSTORAGE\n10\n*NODE FILE\nU\n*END STEP\n"
    (folder / "beam.inp").write_text(f"*NODE,NSET=NALL\n{nodes}*ELEMENT,TYPE=B31,ELSET=EALL\n1,3,10\n{step}")
    return folder / "beam.sti"


def punched(number):
    """A number of 16 columns as a punch file has it: it may touch the one before."""
    return f"{number:16.9E}".replace("E", "D")


def write_punch(folder):
    """As EXTOUT,DMIGPCH has it: a symmetric form whose halves mix, as columns go by internal numbers; damping too."""
    order = [k for node in (2, 0, 4, 1, 3) for k in range(6 * node, 6 * node + 6)]
    lines = ["$TITLE   = BEAM", "$SUBTITLE=", "ASET1,123456,3,10,20", "+,31,77"]
    for label, (x, y, z) in zip(LABELS, NODES.tolist(), strict=True):
        lines += [f"GRID*   {label:16d}{0:16d}{x:16.9E}{y:16.9E}", f"*       {z:16.9E}{0:16d}"]
    for name, matrix in (("KAAX", K), ("K4AAX", 0.01 * K), ("MAAX", M)):
        lines.append(f"DMIG    {name:8}{0:8}{6:8}{2:8}{0:8}{'':8}{'':8}{len(K):8}")
        for at, j in enumerate(order):
            rows = [i for i in order[at:] if matrix[i, j]]
            head = f"{name:16}{FREEDOMS[j][0]:16}{FREEDOMS[j][1]:16}{'':16}*MAT{j:04d}"
            lines.append(f"DMIG*   {head}")
            lines += [f"*       {FREEDOMS[i][0]:16}{FREEDOMS[i][1]:16}{punched(matrix[i, j])}" for i in rows]
    (folder / "beam.pch").write_text("\n".join(lines) + "\n")
    return folder / "beam.pch"


def short(number):
    """A number of eight columns as Nastran writes it: 1.2345+6."""
    for digits in range(6, -1, -1):
        head, _, power = f"{number:.{digits}e}".partition("e")
        head = head if "." in head else f"{head}."
        if len(text := f"{head}{int(power):+d}") <= 8:
            return f"{text:>8}"
    raise ValueError(number)


def write_short_fields(folder):
    """Short fields: two entries on each continuation, exponents without a letter."""
    lines = ["BEGIN BULK"]
    for label, (x, y, z) in zip(LABELS, NODES.tolist(), strict=True):
        lines.append(f"GRID    {label:8}{'':8}{short(x)}{short(y)}{short(z)}")
    for name, matrix in (("KAAX", K), ("MAAX", M)):
        lines.append(f"DMIG    {name:8}{0:8}{6:8}{1:8}{0:8}")
        for j, (node, direction) in enumerate(FREEDOMS):
            terms = [
                f"{FREEDOMS[i][0]:8}{FREEDOMS[i][1]:8}{short(matrix[i, j])}{'':8}"
                for i in range(j, len(K))
                if matrix[i, j]
            ]
            lines.append(f"DMIG    {name:8}{node:8}{direction:8}{'':8}{terms[0]}+")
            lines += [f"+       {''.join(terms[k : k + 2])}" for k in range(1, len(terms), 2)]
    (folder / "beam.bdf").write_text("\n".join([*lines, "ENDDATA"]))
    return folder / "beam.bdf"


@pytest.mark.parametrize(
    ("write", "digits"), [(write_as_calculix, 1e-13), (write_punch, 1e-9), (write_short_fields, 1e-3)]
)
def test_files_as_the_programs_write_them(write, digits, tmp_path):
    found = read_finite_elements(write(tmp_path))
    np.testing.assert_allclose(found.K.toarray(), K, rtol=digits, atol=digits * 1e-6 * np.max(K))
    np.testing.assert_allclose(found.M.toarray(), M, rtol=digits, atol=digits * 1e-6 * np.max(M))
    np.testing.assert_allclose(found.nodes, NODES, rtol=0, atol=digits)
    assert found.labels.tolist() == LABELS.tolist()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (f"KAAX    {0:8}{6:8}{2:8}", f"KAAX    {0:8}{9:8}{2:8}", "KAAX: neither square nor symmetric"),
        (f"MAAX    {0:8}{6:8}{2:8}", f"MAAX    {0:8}{6:8}{4:8}", "MAAX: complex numbers"),
        (f"{0.0:16.9E}{0:16d}", f"{0.0:16.9E}{7:16d}", "displacements in coordinates of their own"),
        (f"DMIG*   {'KAAX':16}{20:16}{1:16}", f"DMIG*   {'KAAX':16}{20:16}{0:16}", "not a freedom of a node"),
    ],
)
def test_matrices_of_another_sort_are_refused(old, new, told, tmp_path):
    path = write_punch(tmp_path)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ph.ModelError, match=told):
        read_finite_elements(path)


def test_an_entry_of_a_symmetric_matrix_that_is_given_twice_is_refused(tmp_path):
    path = write_punch(tmp_path)
    line = f"*       {20:16}{1:16}{punched(K[12, 12])}"
    assert line in path.read_text()
    path.write_text(path.read_text().replace(line, f"{line}\n{line}", 1))
    with pytest.raises(ph.ModelError, match=r"KAAX: an entry twice.*\n.*20-1 with 20-1"):
        read_finite_elements(path)


MODEL = """
name: arm
gravity: [0, 0, 0]
modal:
  arm: {file: FILE, interfaces: {root: 3, tip: 77}, modes: 1, damping_ratio: 0.01, frame: root}
joints:
  hinge: {type: revolute, parent: world, child: arm, axis: [0, 0, 1]}
"""


def test_a_model_file_names_matrices_beside_it(tmp_path):
    write_npz(tmp_path)
    (tmp_path / "arm.yaml").write_text(MODEL.replace("FILE", "beam.npz"))
    found = ph.load(tmp_path / "arm.yaml")
    wanted = ph.ModalBody.from_matrices(
        "arm", M, K, NODES, {"root": 3, "tip": 77}, 1, 0.01, frame="root", labels=LABELS
    )
    hinge = ph.Joint("hinge", "revolute", "world", "arm")
    assert found == ph.Model("arm", (0, 0, 0), joints=[hinge], modal=[wanted])
    write_mtx(tmp_path)
    files = "{mass: m.mtx, stiffness: k.mtx, nodes: nodes.txt}"
    (tmp_path / "arm.yaml").write_text(MODEL.replace("FILE", files))
    assert ph.load(tmp_path / "arm.yaml").nv == found.nv


@pytest.mark.parametrize("name", ["../beam.npz", "/etc/passwd", "missing.npz", "beam.zip", "a\\0b.npz"])
def test_files_elsewhere_are_not_read(name, tmp_path):
    write_npz(tmp_path)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "arm.yaml").write_text(MODEL.replace("FILE", f"'{name}'"))
    with pytest.raises(ph.errors.ModelError):
        ph.load(inside / "arm.yaml")
    with pytest.raises(ph.errors.ModelError, match="a text has no folder"):
        ph.formats.yaml.model_from_yaml(MODEL.replace("FILE", "beam.npz"), "arm.yaml")


def test_nothing_is_unpickled(tmp_path):
    class Harm:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    np.savez(tmp_path / "a.npz", M=np.array([Harm()], dtype=object), K=K, nodes=NODES)
    with pytest.raises(ph.errors.ModelError, match="not read"):
        read_finite_elements(tmp_path / "a.npz")
    (tmp_path / "b.npz").write_bytes(pickle.dumps(3))
    with pytest.raises(ph.errors.ModelError, match="not a NumPy file"):
        read_finite_elements(tmp_path / "b.npz")


def test_sizes_are_looked_at_first(tmp_path, monkeypatch):
    path = tmp_path / "big.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n999999999 999999999 999999999999\n1 1 1.0\n")
    (tmp_path / "nodes.txt").write_text("0 0 0\n")
    files = {"mass": path, "stiffness": path, "nodes": tmp_path / "nodes.txt"}
    with pytest.raises(ph.errors.ModelError, match="too large"):
        read_finite_elements(files)
    monkeypatch.setattr("polhode.formats.finite_elements.npz.MOST_BYTES", 1000)
    with pytest.raises(ph.errors.ModelError, match="too large"):
        read_finite_elements(write_npz(tmp_path))
    assert MOST_BYTES > 1000


BROKEN = [
    ("beam.dof", "3.9\n", "not a freedom"),
    ("beam.dof", "", "no freedoms"),
    ("beam.sti", "1 1\n", "not an entry"),
    ("beam.sti", "1 99 2.0\n", "entries outside the matrix"),
    ("beam.mas", "1 1 x\n", "not a number"),
    ("beam.inp", "*NODE\n3, 0, 0, 0\n", "nodes without a place"),
]


@pytest.mark.parametrize(("name", "text", "fault"), BROKEN, ids=[fault for *_, fault in BROKEN])
def test_damaged_files_are_told_by_name(name, text, fault, tmp_path):
    path = write_calculix(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(ph.errors.ModelError, match=fault) as error:
        read_finite_elements(path)
    assert "beam" in str(error.value)


def test_damaged_matrix_market_and_nastran_files_are_told(tmp_path):
    files = write_mtx(tmp_path)
    files["mass"].write_text("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n")
    with pytest.raises(ph.errors.ModelError, match="not a Matrix Market file"):
        read_finite_elements(files)
    files["mass"].write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n")
    with pytest.raises(ph.errors.ModelError, match="cut short"):
        read_finite_elements(files)
    path = tmp_path / "empty.bdf"
    path.write_text("GRID,1,,0.,0.,0.\n")
    with pytest.raises(ph.errors.ModelError, match="not one matrix"):
        read_finite_elements(path)
    path.write_text("GRID,1,5,0.,0.,0.\n")
    with pytest.raises(ph.errors.ModelError, match="coordinates of its own"):
        read_finite_elements(path)

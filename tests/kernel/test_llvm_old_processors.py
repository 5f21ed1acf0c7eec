"""Processors without AVX or fused multiply-adds: the same bits, from the oldest instructions of this architecture."""

import platform

import llvmlite.binding as llvm
import numpy as np
import pytest

import polhode.kernel.backends.llvm.compile as building
from machines import random_model, random_q
from polhode.dynamics import forward
from polhode.dynamics.large_trees import loops
from polhode.kernel import trace
from polhode.kernel.backends.llvm.compile import build
from polhode.kernel.backends.llvm.module import module_text
from polhode.model import make_tree

OLDEST = {"x86_64": "x86-64", "AMD64": "x86-64"}
"""The processor that every later one of an architecture can stand for."""


@pytest.fixture
def old(monkeypatch):
    """LLVM writes for the oldest processor of this architecture."""
    name = OLDEST.get(platform.machine(), "generic")
    building.machine()  # LLVM is ready
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=name, features="", opt=2, reloc="pic", codemodel="small", jit=True)
    monkeypatch.setattr(building, "machine", lambda *level: machine)


@pytest.mark.parametrize("physics", [forward.forward_dynamics, loops.forward_dynamics])
@pytest.mark.parametrize("width", [1, 2])
def test_an_old_processor_computes_the_same_bits(physics, width, request):
    model = random_model(["free", "revolute", "spherical", "prismatic"], 3)
    tree, rng = make_tree(model), np.random.default_rng(0)
    graph = trace(lambda q, v, w: physics(tree, q, v, w), q=(model.nq,), v=(model.nv,), w=(model.nv,))
    given = random_q(model, rng, (7,)), rng.normal(size=(7, model.nv)), rng.normal(size=(7, model.nv))
    expected = build(graph)(*given)
    request.getfixturevalue("old")
    found = build(graph, width)(*given)
    np.testing.assert_array_equal(found[0], expected[0])


def test_the_oldest_instructions_know_no_wide_registers(request):
    request.getfixturevalue("old")
    graph = trace(lambda a, b, c: a * b + c, a=(), b=(), c=())
    text = building.machine().emit_assembly(llvm.parse_assembly(module_text(graph, "kernel", 2)))
    assert "ymm" not in text
    assert "vfmadd" not in text

"""A store that cannot lie: whatever happens to any file of a study is noticed, told, and mended where it can be."""

import json
import os
import random
import shutil
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import polhode as ph
from polhode.cli import main
from polhode.ensemble.on_disk.seal import (
    GROUP,
    RECEIPTS,
    RESULTS,
    SEAL,
    read_receipt,
    read_seal,
    write_json,
    write_seal,
)
from polhode.ensemble.on_disk.store import StudyStore
from polhode.ensemble.on_disk.verify import verify_study
from polhode.ensemble.study_file import load_study
from polhode.ensemble.summary import summary
from polhode.result.digests import digest_of, with_digest

TEXT = """\
study: small
model: double-pendulum
runs: 24
seed: 3
duration: 0.02
step: 1e-3
method: rk4
every: 10
parameters:
  bodies.upper.mass: {normal: [1, 0.1]}
  start.q.hinge: {uniform: [-1, 1]}
outputs: {height: -cos(q.hinge)}
measures: {highest: {max: height}}
"""


def polhode(*args):
    return CliRunner().invoke(main, ["sweep", *map(str, args)], catch_exceptions=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A whole study, with its summary and report; and its numbers."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "study.yaml").write_text(TEXT)
    told = polhode(folder / "study.yaml", "--out", folder / "s", "--chunk", 8, "--threads", 1, "--quiet")
    assert told.exit_code == 0, told.output
    return folder / "s", ph.open_study(folder / "s", verify=True).load()


@pytest.fixture
def copy(made, tmp_path):
    return shutil.copytree(made[0], tmp_path / "s")


def files(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def flip(path, rng):
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def cut(path, rng):
    path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size)])


def delete(path, rng):
    path.unlink()


HARM = {"flip": flip, "cut": cut, "delete": delete}


def is_noticed(folder):
    """By the command, and by a reader of all there is."""
    found = polhode("--verify", "--out", folder)
    assert found.exit_code == 2, found.output
    assert "damaged" in found.stderr
    assert "Traceback" not in found.output
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ph.PolhodeWarning)
        try:
            summary(folder)
        except ph.InputError as fault:
            words = [str(fault)]
        else:
            words = [str(one.message) for one in told]
    return any("damaged" in text or "not all runs" in text for text in words)


@pytest.mark.parametrize("harm", HARM)
def test_damage_to_every_file_is_noticed(copy, harm):
    rng = random.Random(harm)
    for name in files(copy):
        before = (copy / name).read_bytes()
        HARM[harm](copy / name, rng)
        assert is_noticed(copy), name
        (copy / name).write_bytes(before)
    assert polhode("--verify", "--out", copy).exit_code == 0


def mended(made, copy, names, harm, rng):
    for name in names:
        HARM[harm](copy / name, rng)
        told = polhode("--resume", "--out", copy, "--quiet", "--threads", 1)
        assert told.exit_code == 0, (name, told.output)
        assert polhode("--verify", "--out", copy).exit_code == 0, name
        assert ph.open_study(copy, verify=True).identical(made[1]), name
    assert files(copy) == files(made[0])


def test_damage_to_shared_files_is_mended(made, copy):
    rng = random.Random(1)
    shared = [SEAL, RESULTS, "summary.nc", f"{GROUP}/zarr.json", f"{GROUP}/time/c.0", f"{RECEIPTS}/000001.json"]
    mended(made, copy, shared, "flip", rng)
    mended(made, copy, [f"{GROUP}/q/zarr.json", f"{GROUP}/dof/c.0"], "delete", rng)


@pytest.mark.long
@pytest.mark.parametrize("harm", HARM)
def test_damage_to_every_file_is_mended(made, copy, harm):
    mended(made, copy, files(made[0]), harm, random.Random(harm))


@pytest.mark.long
def test_a_thousand_flipped_bits_are_noticed(copy):
    rng = random.Random(11)
    for _ in range(1000):
        name = rng.choice(files(copy))
        before = (copy / name).read_bytes()
        flip(copy / name, rng)
        assert is_noticed(copy), name
        (copy / name).write_bytes(before)


def test_a_chunk_in_the_place_of_another_is_damage(made, copy):
    chunk = copy / GROUP / "q_end" / "c.1.0"
    shutil.copy(chunk.with_name("c.0.0"), chunk)
    assert is_noticed(copy)
    polhode("--resume", "--out", copy, "--quiet")
    assert np.array_equal(ph.open_study(copy)["q_end"], made[1]["q_end"])
    chunk.rename(copy / "aside")  # arrays of one shape, exchanged
    (copy / GROUP / "v_end" / "c.1.0").rename(chunk)
    (copy / "aside").rename(copy / GROUP / "v_end" / "c.1.0")
    assert is_noticed(copy)


def test_a_chunk_of_another_study_is_damage(made, copy, tmp_path):
    (tmp_path / "other.yaml").write_text(TEXT.replace("seed: 3", "seed: 4"))
    assert polhode(tmp_path / "other.yaml", "--out", tmp_path / "o", "--chunk", 8, "--quiet").exit_code == 0
    shutil.copy(tmp_path / "o" / GROUP / "q" / "c.1.0.0", copy / GROUP / "q")
    assert is_noticed(copy)
    shutil.copy(tmp_path / "o" / RECEIPTS / "000001.json", copy / RECEIPTS / "000001.json")
    assert is_noticed(copy)
    assert StudyStore(copy).pending() == [1]


def test_another_byte_order_and_other_units_are_damage(made, copy):
    for name, old, new in [("q", '"little"', '"big"'), ("end_time", '"s"', '"h"'), ("sample", '"float64"', '"int64"')]:
        path = copy / GROUP / name / "zarr.json"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        assert is_noticed(copy)
        path.write_text(text)


def test_a_reader_of_one_array_is_told_when_it_reads_it(made, copy):
    path = copy / GROUP / "q" / "c.1.0.0"
    content = bytearray(path.read_bytes())
    content[40] ^= 4
    path.write_bytes(content)
    found = ph.open_study(copy, verify=False)
    assert np.array_equal(found["q"][:8], made[1]["q"][:8])
    with pytest.raises(ph.InputError, match=r"q/c.1.0.0.*damaged"):
        found["q"].values  # noqa: B018
    with pytest.raises(ph.InputError, match=r"damaged.*\n.*q/c.1.0.0 \(its checksum is wrong\).*\n.*--resume"):
        ph.open_study(copy)
    with pytest.warns(ph.PolhodeWarning, match=r"not all runs are there(.|\n)*16 runs(.|\n)*q/c.1.0.0"):
        rest = ph.open_study(copy, gaps=True)
    assert rest.attrs["runs_done"] == 16
    assert (rest["status"][8:16] == 0).all()
    assert np.isnan(rest["q"][8:16]).all()
    assert np.array_equal(rest["q"][16:], made[1]["q"][16:])


def test_a_missing_chunk_is_an_error_and_a_missing_receipt_a_stated_gap(copy):
    path = copy / GROUP / "height" / "c.2.0"
    content = path.read_bytes()
    path.unlink()
    with pytest.raises(ph.InputError, match=r"damaged.*\n.*height/c.2.0 \(missing\)"):
        ph.open_study(copy)
    path.write_bytes(content)
    (copy / RECEIPTS / "000002.json").unlink()
    with pytest.warns(ph.PolhodeWarning, match="not all runs are there"):
        found = ph.open_study(copy)
    assert found.attrs["runs_done"] == 16
    assert np.isnan(found["height"][16:]).all()  # whatever lies on the disk
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        short = summary(copy)
    assert short.attrs["runs_done"] == 16
    assert json.loads(short.attrs["status"])["pending"] == 8
    from polhode.show.page.study import study_page

    assert "16</b> of 24 runs; 8 are missing" in study_page(short)


HOSTILE = {
    "empty": b"",
    "cut": b'{"format": 2, "iden',
    "a list": b"[1, 2]",
    "nested": b'{"a":' * 100_000,
    "a large number": b'{"runs": 1' + b"0" * 5000 + b"}",
    "not text": b"\xff\xfe\x00",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_json_is_told_and_mended(made, copy, kind):
    for name in (SEAL, RESULTS, f"{RECEIPTS}/000000.json", f"{GROUP}/zarr.json"):
        before = (copy / name).read_bytes()
        (copy / name).write_bytes(HOSTILE[kind])
        assert is_noticed(copy), name
        (copy / name).write_bytes(before)
    for name in (SEAL, f"{RECEIPTS}/000000.json"):
        (copy / name).write_bytes(HOSTILE[kind])
    told = polhode("--resume", "--out", copy, "--quiet")
    assert told.exit_code == 0, told.output
    assert ph.open_study(copy, verify=True).identical(made[1])


VALUES = [None, -1, 0, 1.5, 10**30, "x", [], {}, True, [1, 2], {"a": 1}, "../../etc/passwd"]


@pytest.mark.parametrize("name", [SEAL, f"{RECEIPTS}/000001.json", RESULTS])
def test_signed_files_with_wrong_values_are_told(copy, name):
    """Whoever can write can sign: what a signed file holds is checked all the same."""
    content = json.loads((copy / name).read_text())
    del content["sha256"]
    harmless = {"seed", "source", "seconds", "device", "reasons"}
    for key in content:
        for value in VALUES:
            (copy / name).write_bytes(with_digest({**content, key: value}))
            if type(value) is not type(content[key]) or key not in harmless:
                assert is_noticed(copy), (key, value)
    for key in ("files", "axes"):
        for inner in content.get(key, {}):
            for value in VALUES:
                (copy / name).write_bytes(with_digest({**content, key: {**content[key], inner: value}}))
                assert is_noticed(copy), (key, inner, value)
            (copy / name).write_bytes(with_digest({**content, key: {**content[key], "../../x": content[key][inner]}}))
            assert is_noticed(copy), (key, inner)


def test_what_cannot_be_mended_is_told(copy):
    (copy / SEAL).unlink()
    text = (copy / GROUP / "zarr.json").read_text()
    for old, new in [('"chunk": 8', '"chunk": 0'), ('"runs": 24', '"runs": 1e30'), ('"seed": 3', '"seed": "x"')]:
        assert old in text
        (copy / GROUP / "zarr.json").write_text(text.replace(old, new))
        told = polhode("--resume", "--out", copy)
        assert told.exit_code == 2
        assert "cannot be mended" in told.stderr
        assert "--overwrite" in told.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_what_is_no_plain_file_is_damage(copy):
    for name in (SEAL, f"{GROUP}/q/c.0.0.0", f"{GROUP}/zarr.json", "summary.nc"):
        before = (copy / name).read_bytes()
        (copy / name).unlink()
        os.mkfifo(copy / name)
        assert verify_study(copy).damage
        (copy / name).unlink()
        (copy / name).symlink_to("/dev/zero")
        assert verify_study(copy).damage
        (copy / name).unlink()
        (copy / name).write_bytes(before)
    assert not verify_study(copy).damage


def test_only_arrays_of_our_kinds_are_decoded(copy):
    """Signed or not, no codec and no object but ours is read."""
    for name, old, new in [("q", '"crc32c"', '"numcodecs.pickle"'), ("time", '"float64"', '"null_terminated_bytes"')]:
        path = copy / GROUP / name / "zarr.json"
        path.write_text(path.read_text().replace(old, new))
        seal = read_seal(copy)
        files = {key: digest_of(seal.place(key), copy / GROUP / key) for key in seal.files}
        write_seal(copy, seal._replace(files=files))
        with pytest.raises(ph.InputError, match="not an array that a study has"):
            ph.open_study(copy)


def test_files_that_nobody_signed_for_are_named_and_not_read(made, copy):
    shutil.copytree(copy / GROUP / "q", copy / GROUP / "zz")
    assert "zz" not in ph.open_study(copy)
    found = polhode("--verify", "--out", copy)
    assert "study.zarr/zz/zarr.json (no file of this study)" in found.stderr


def test_chunks_of_fill_values_are_files_too(tmp_path):
    """A verdict of 0 is a verdict: where its file is missing, it is missing."""
    (tmp_path / "study.yaml").write_text(TEXT + "input: {elbow: 0.1}\naccompanied: 0\n")
    study = load_study(tmp_path / "study.yaml")
    assert not ph.sweep(study, out=tmp_path / "s", chunk=8)["verdict"].any()
    (tmp_path / "s" / GROUP / "verdict" / "c.1").unlink()
    with pytest.raises(ph.InputError, match=r"verdict/c.1 \(missing\)"):
        ph.open_study(tmp_path / "s")


def test_a_study_of_python_knows_no_file(tmp_path):
    (tmp_path / "study.yaml").write_text(TEXT)
    study = load_study(tmp_path / "study.yaml")
    from dataclasses import replace

    ph.sweep(replace(study, source=""), out=tmp_path / "s", chunk=8)
    told = polhode("--resume", "--out", tmp_path / "s")
    assert "begun in Python" in told.stderr
    assert polhode("--verify", "--out", tmp_path / "s").exit_code == 0


def test_a_study_with_a_folder_for_each_chunk_is_read(made, copy):
    """As those that are older than the separator in the seal."""
    seal = read_seal(copy)
    old = seal._replace(separator="/")
    for name in [*seal.axes, "time", "parameter", "coordinate", "dof"]:
        path = copy / GROUP / name / "zarr.json"
        path.write_text(path.read_text().replace('"separator": "."', '"separator": "/"'))
    keys = {key: key.replace("/c.", "/c/") for key in seal.files}
    keys |= {seal.key(name, k): old.key(name, k) for name in seal.axes for k in range(seal.chunks)}
    for key, new in keys.items():
        (copy / GROUP / new).parent.mkdir(parents=True, exist_ok=True)
        (copy / GROUP / key).rename(copy / GROUP / new)
    shared = {keys[key]: digest_of(old.place(keys[key]), copy / GROUP / keys[key]) for key in seal.files}
    old = old._replace(files=shared)
    for k in range(seal.chunks):
        receipt = read_receipt(copy, seal, k)
        receipt["files"] = {
            name: digest_of(old.chunk_place(name, k), copy / GROUP / old.key(name, k)) for name in old.axes
        }
        write_json(copy / RECEIPTS / f"{k:06d}.json", receipt)
    write_seal(copy, old)
    content = json.loads((copy / SEAL).read_text())
    del content["separator"], content["sha256"]
    (copy / SEAL).write_bytes(with_digest(content))
    assert not verify_study(copy).damage
    assert ph.open_study(copy, verify=True).load().equals(made[1])

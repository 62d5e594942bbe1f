"""Click models in JSON files."""

import gzip
import json
import tracemalloc

import numpy as np
import pytest

from click_models_made_up import NAMES, made_up
from corebandit.clicks import stored_models
from corebandit.clicks.stored_models import read_documents, read_models, write_models
from corebandit.contracts.errors import BadInput
from real_data import MODELS, needs_real_data


@pytest.mark.parametrize("file", ["models.json", "models.json.gz"])
def test_models_are_read_as_they_were_written(file, tmp_path):
    models = {str(query): {name: made_up(name, 4, query) for name in NAMES} for query in range(2)}
    write_models(tmp_path / file, models)
    assert read_models(tmp_path / file) == models


def test_the_layout_is_parameters_by_model_by_query(tmp_path):
    write_models(tmp_path / "models.json.gz", {7: {"CM": made_up("CM", 2), "DBN": made_up("DBN", 2)}})
    plain = json.loads(gzip.decompress((tmp_path / "models.json.gz").read_bytes()))
    assert list(plain) == ["7"]
    assert {name: list(parameters) for name, parameters in plain["7"].items()} == {
        "CM": ["attraction"],
        "DBN": ["attraction", "satisfaction", "abandon"],
    }


def test_the_same_models_make_the_same_file(tmp_path):
    for file in ("one.json.gz", "two.json.gz"):
        write_models(tmp_path / file, {"q": {"CM": made_up("CM", 3)}})
    assert (tmp_path / "one.json.gz").read_bytes() == (tmp_path / "two.json.gz").read_bytes()


def test_names_of_documents_stand_beside_the_models_and_may_be_missing(tmp_path):
    models = {"q": {"CM": made_up("CM", 2)}, "r": {"CM": made_up("CM", 2)}}
    write_models(tmp_path / "named.json", models, {"q": ["a", "b"], "r": [7, 8]})
    assert list(json.loads((tmp_path / "named.json").read_text())["q"]) == ["documents", "CM"]
    assert read_models(tmp_path / "named.json") == models
    assert read_documents(tmp_path / "named.json") == {"q": ["a", "b"], "r": ["7", "8"]}
    write_models(tmp_path / "nameless.json", models)
    assert read_models(tmp_path / "nameless.json") == models
    assert read_documents(tmp_path / "nameless.json") == {}


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"models.json must be a JSON file of click models, and does not exist"):
        read_models(tmp_path / "models.json")
    with pytest.raises(ValueError, match="must be a JSON file of click models, and is a folder"):
        read_models(tmp_path)
    (tmp_path / "log.parquet").write_bytes(b"PAR1\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"log.parquet must be a JSON file of click models, and is no text$"):
        read_models(tmp_path / "log.parquet")
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b'{"q": {}}' * 100)[:30])
    with pytest.raises(ValueError, match=r"cut.json.gz must be a JSON file of click models: "):
        read_models(tmp_path / "cut.json.gz")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("nonsense", "models.json must be a JSON file of click models"),
        ("[1]", "models.json must hold click models as"),
        ('{"q": 1}', "models.json must hold click models as"),
        ('{"q": {"CMM": {}}}', "models.json, query q: unknown click model 'CMM': did you mean 'CM'"),
        ('{"q": {"CM": {"attractions": [1]}}}', "models.json, query q: CM needs attraction, not attractions"),
        ('{"q": {"CM": [1]}}', r"models.json, query q: CM needs attraction, not \[1\]"),
        ('{"q": {"CM": {"attraction": [2]}}}', r"models.json, query q: attraction of document 0 must be in \[0, 1\]"),
    ],
)
def test_mistakes_are_named(content, sentence, tmp_path):
    (tmp_path / "models.json").write_text(content)
    with pytest.raises(ValueError, match=sentence):
        read_models(tmp_path / "models.json")


def test_a_broken_archive_is_named(tmp_path):
    (tmp_path / "models.json.gz").write_bytes(b"not gzip")
    with pytest.raises(ValueError, match=r"models.json.gz must be a JSON file of click models"):
        read_models(tmp_path / "models.json.gz")


@needs_real_data
def test_the_published_models_are_read():
    models = read_models(MODELS)
    assert len(models) == 60
    assert all(set(of_query) == set(NAMES) - {"SDBN"} for of_query in models.values())
    values = [of_query["CM"].value(of_query["CM"].optimal(5)) for of_query in models.values()]
    assert np.mean(values) == pytest.approx(0.666, abs=0.001)


@pytest.mark.parametrize("file", ["models.json", "models.json.gz"])
def test_what_is_nested_too_deep_is_named(file, tmp_path):
    text = b'{"q": {"CM": ' + b"[" * 200_000
    (tmp_path / file).write_bytes(gzip.compress(text) if file.endswith("gz") else text)
    with pytest.raises(BadInput, match="is nested too deep"):
        read_models(tmp_path / file)


@pytest.mark.parametrize("file", ["models.json", "models.json.gz"])
def test_a_file_that_unpacks_to_more_than_a_limit_is_not_unpacked(file, tmp_path, monkeypatch):
    text = b" " * 30_000_000
    (tmp_path / file).write_bytes(gzip.compress(text) if file.endswith("gz") else text)
    monkeypatch.setattr(stored_models, "LARGEST", 1_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(BadInput, match="more than 1,000,000 bytes"):
            read_models(tmp_path / file)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_huge_parameters_are_not_quoted_in_full(tmp_path):
    (tmp_path / "models.json").write_text(json.dumps({"q": {"CM": "x" * 1_000_000}}))
    with pytest.raises(BadInput) as caught:
        read_models(tmp_path / "models.json")
    assert len(str(caught.value)) < 600

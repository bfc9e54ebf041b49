"""The source archive has what a build needs."""

import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    not (ROOT / "CMakeLists.txt").exists(), reason="there is no source to make an archive of"
)


def test_the_archive_has_the_core_the_package_and_its_files(tmp_path, monkeypatch):
    backend = pytest.importorskip("scikit_build_core.build", reason="make installs it")
    monkeypatch.chdir(ROOT)
    name = backend.build_sdist(str(tmp_path))
    with tarfile.open(tmp_path / name) as archive:
        there = {member.name.partition("/")[2] for member in archive if member.isfile()}
    folders = [*(ROOT / "core").rglob("*"), *(ROOT / "src" / "ellzero").rglob("*")]
    kinds = {".hpp", ".cpp", ".py", ".pyi", ".css", ".html", ".js", ".typed"}
    wanted = {str(path.relative_to(ROOT)) for path in folders if path.suffix in kinds}
    wanted |= {"CMakeLists.txt", "pyproject.toml", "README.md", "LICENSE", "src/ellzero/py.typed"}
    assert len(wanted) > 400
    assert sorted(wanted - there) == []
    # What is made, and what is large, stays out.
    assert not [path for path in there if path.startswith(("docs/_build", "docs/images", ".venv"))]
    assert (tmp_path / name).stat().st_size < 5e6

"""What pages show comes from scripts of the repository, or is run by doctest."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
pytestmark = pytest.mark.skipif(
    not IMAGES.exists(), reason="pictures are not part of what is installed"
)


def used():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    texts = [page.read_text(encoding="utf-8") for page in pages]
    return {name for text in texts for name in re.findall(r"images/([\w-]+\.png)", text)}


def test_every_picture_is_there_is_shown_and_has_its_script():
    made = json.loads((IMAGES / "made.json").read_text(encoding="utf-8"))
    there = {path.name for path in IMAGES.glob("*.png")}
    assert there == set(made) == used()
    for entry in made.values():
        if entry["by"].startswith("make "):
            assert f"\n{entry['by'].split()[1]}:" in (ROOT / "Makefile").read_text()
        else:
            assert (ROOT / entry["by"]).is_file()
        assert re.fullmatch("[0-9a-f]{12}", entry["commit"])


def test_benchmarks_that_pages_quote_are_there():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    named = {name for page in pages for name in re.findall(r"benchmarks/\w+\.py", page.read_text())}
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def test_every_block_of_python_on_a_page_is_run():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    found = re.compile(r"```python\n(.*?)```", re.DOTALL)
    blocks = [(page.name, block) for page in pages for block in found.findall(page.read_text())]
    assert len(blocks) > 50
    assert [name for name, block in blocks if not block.startswith(">>> ")] == []

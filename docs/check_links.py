"""Check that every link, picture and anchor within a built site leads somewhere.

Usage: python check_links.py docs/_build/html
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and what in it can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Collect anchors and links."""
        for key, value in attrs:
            if key in ("id", "name") and value:
                self.anchors.add(value)
            elif key in ("href", "src") and value:
                self.links.append(value)


def broken_links(folder):
    """Return a sentence for each link that leads nowhere."""
    pages = {
        path.resolve(): Page(path)
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.parts
    }
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file():
                found.append(f"{path.relative_to(folder)}: {link} is not there")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                found.append(f"{path.relative_to(folder)}: {link} has no such place")
    return found, len(pages)


if __name__ == "__main__":
    wrong, count = broken_links(Path(sys.argv[1]).resolve())
    print("\n".join(wrong) or f"{count} pages: every link within them leads somewhere")
    sys.exit(bool(wrong))

"""Open every page of the site in a browser: nothing is wider than a phone, or hard to read.

python docs/check_pages.py docs/_build/html, after make docs; needs chromium (make browser) and
selenium. Each page is opened as on a phone, light, and as on a wide screen, dark. What scrolls by
itself, such as a table or a block of code, may be wider than the page.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from browsers import emulate, start_browser

# Below this ratio of luminances (WCAG asks for 4.5 of small text) a text counts as hard to read.
CONTRAST = 3.5
# The theme's own hint beside its search field, and "+" between two keys.
PALE = ".search-button__kbd-shortcut"

FIND = """
const [width, contrast, pale] = arguments, found = [];
const wide = document.documentElement.scrollWidth;
if (wide > width) found.push(`${wide} pixels wide`);
for (const image of document.images)
  if (!image.naturalWidth) found.push(`no picture ${image.getAttribute('src')}`);
const parts = colour => {
  const [r, g, b, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
  return [r, g, b, alpha];
};
const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3]));
const ground = element => {
  const layers = [];
  for (; element; element = element.parentElement)
    layers.unshift(parts(getComputedStyle(element).backgroundColor));
  return layers.reduce((under, top) => over(top, under), [255, 255, 255]);
};
const light = colour => {
  const [r, g, b] = colour.map(v => v / 255).map(
    v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b;
};
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const text = walk.currentNode.textContent.trim(), element = walk.currentNode.parentElement;
  if (!text || element.closest(`script, style, noscript, ${pale}`)) continue;
  if (!element.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
  const under = ground(element);
  const two = [light(over(parts(getComputedStyle(element).color), under)), light(under)];
  if ((Math.max(...two) + .05) / (Math.min(...two) + .05) < contrast)
    found.push(`pale: ${text.slice(0, 40)}`);
}
return [...new Set(found)];
"""


def main(folder):
    """Return 1 if a page has something amiss, and print what."""
    pages = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]
    amiss = 0
    browser = start_browser()
    try:
        for scheme, width in (("light", 390), ("dark", 1280)):
            emulate(browser, scheme=scheme, width=width, mobile=width < 500)
            for page in pages:
                browser.get(page.as_uri())
                while browser.execute_script("return document.readyState") != "complete":
                    time.sleep(0.05)
                for what in browser.execute_script(FIND, width, CONTRAST, PALE):
                    print(f"{page.relative_to(folder)}, {scheme}, {width} wide: {what}")
                    amiss += 1
    finally:
        browser.quit()
    print(f"{len(pages)} pages, two ways each: {amiss or 'nothing'} amiss")
    return int(amiss > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))

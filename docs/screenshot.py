"""The picture of a report in the README: `python docs/screenshot.py REPORT.html PICTURE.png`."""

import io
import sys
from pathlib import Path

from PIL import Image

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
import tools

WIDTH, HEIGHT = 1280, 1480
MOMENT = 0.3
"""The part of the run that is shown."""


def screenshot(page_file: Path) -> bytes:
    """The top of a page as PNG."""
    path = tools.browser()
    if path is None:
        sys.exit(tools.NO_BROWSER)
    with tools.launched(path) as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(page_file.resolve().as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        slider = "document.getElementById('time')"
        page.evaluate(f"{slider}.value = {slider}.max * {MOMENT}; {slider}.dispatchEvent(new Event('input'))")
        page.wait_for_timeout(500)
        return page.screenshot()


def main(page_file: str, picture: str) -> None:
    """Write the picture, in 256 colours."""
    image = Image.open(io.BytesIO(screenshot(Path(page_file)))).convert("RGB")
    image.quantize(256, kmeans=3, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The style of the site: what docs/_static/site.css does to pages on paper, in a browser."""

from pathlib import Path

STYLE = Path(__file__).resolve().parents[2] / "docs" / "_static" / "site.css"

PAGE = """<style>{style}</style><a class="skip-to-content" href="#x">Skip to content</a>
<div style="width: 200px"><div class="highlight"><pre>{line}</pre></div></div>"""


def test_on_paper_code_is_not_cut_and_no_link_stands_over_the_text(browser):
    page = browser.new_page()
    page.set_content(PAGE.format(style=STYLE.read_text(encoding="utf-8"), line="word " * 60))
    wide = "(() => { const pre = document.querySelector('pre'); return pre.scrollWidth > pre.clientWidth; })()"
    assert page.evaluate(wide)  # on a screen it is scrolled
    page.emulate_media(media="print")
    assert not page.evaluate(wide)
    assert not page.locator(".skip-to-content").is_visible()
    page.close()

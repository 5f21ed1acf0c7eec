"""Sphinx: how the site is made from docs/, examples/ and the package. `make docs` calls it (docs/_tools/build_site.py)."""

import sys
from importlib.metadata import distribution
from pathlib import Path
from shutil import copyfile

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
STAGED = ROOT / "build" / "source"
sys.path.insert(0, str(DOCS / "_tools"))

import gallery_pages  # noqa: E402
import polhode  # noqa: E402
from inventories import mapping  # noqa: E402

project = "Polhode"
author = "The Polhode developers"
copyright = author
release = version = polhode.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "site_extension",
]
root_doc = "index"
exclude_patterns = ["_tools", "_static", "**/README.md"]
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(?:polhode\.)?(?:\w+\.)*_?[A-Z]\w*"),  # types of the inside that have no page
    (r"py:.*", r"np\..*|numpy\..*|xr\..*|matplotlib\..*|sympy\..*|Any|optional|callable"),
    (r"py:.*", r"polhode\.\w+\.\w+.*|collections\.abc\.\w+\[.*|.*\[.*"),
]
suppress_warnings = ["config.cache"]

# Markdown
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
myst_links_external_new_tab = False

# reference
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_type_aliases = {"Array": "Array", "Scalar": "Scalar"}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 150  # of text in which types have their full names
add_module_names = False
toc_object_entries = False  # headings name them already
viewcode_line_numbers = True
viewcode_follow_imported_members = True
intersphinx_mapping = mapping()
intersphinx_timeout = 1

# equations: MathJax from an installed package, one script, no network
MATHJAX = distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax/tex-svg-full.js")
(ROOT / "build" / "static").mkdir(parents=True, exist_ok=True)
copyfile(str(MATHJAX), ROOT / "build" / "static" / "mathjax.js")
mathjax_path = "mathjax.js"
mathjax4_config = mathjax3_config = {"svg": {"fontCache": "global"}, "tex": {"tags": "none"}}

# examples
sphinx_gallery_conf = gallery_pages.configuration(ROOT, STAGED)

# look
html_theme = "furo"
html_title = "Polhode"
html_static_path = [str(DOCS / "_static"), str(ROOT / "build" / "static")]
html_css_files = ["site.css"]
html_js_files = ["gallery-tags.js", "gallery.js", "search.js"]
html_favicon = str(DOCS / "_static" / "icon.svg")
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = None
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
FONTS = {
    "font-stack": 'Inter, -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", "Liberation Sans", Arial, system-ui, sans-serif',
    "font-stack--monospace": 'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, "DejaVu Sans Mono", monospace',
}
html_theme_options = {
    "light_logo": "logo.svg",
    "dark_logo": "logo-dark.svg",
    "sidebar_hide_name": False,
    "navigation_with_keys": True,
    "light_css_variables": {
        **FONTS,
        "color-brand-primary": "#0068a3",
        "color-brand-content": "#0068a3",
        "color-brand-visited": "#5b4bb5",
        "color-background-primary": "#ffffff",
        "color-background-secondary": "#f4f6f8",
        "color-background-border": "#dde2e8",
        "color-foreground-primary": "#18202a",
        "color-foreground-secondary": "#55606d",
        "color-foreground-muted": "#55606d",
        "color-accent": "#d55e00",
    },
    "dark_css_variables": {
        "color-brand-primary": "#66b7ee",
        "color-brand-content": "#66b7ee",
        "color-brand-visited": "#a79bf0",
        "color-background-primary": "#0b0e12",
        "color-background-secondary": "#12161b",
        "color-background-border": "#262d36",
        "color-foreground-primary": "#e8edf2",
        "color-foreground-secondary": "#9eaab7",
        "color-foreground-muted": "#9eaab7",
        "color-accent": "#ff8a47",
    },
}

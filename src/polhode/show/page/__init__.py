"""Report pages: one HTML file for a run or a study, with its curves, sections, styles and scripts."""

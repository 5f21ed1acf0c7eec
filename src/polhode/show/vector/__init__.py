"""Vector drawings: curves in space as a distant viewer sees them, pens, letters and pages as SVG or PDF."""

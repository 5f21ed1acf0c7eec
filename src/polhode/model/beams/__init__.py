"""Beams: strains of an element between two frames, sections, and beams as bodies, joints and elements."""

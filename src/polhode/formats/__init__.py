"""Model files: text in, Model out."""

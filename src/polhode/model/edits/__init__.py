"""Models made of models: one edit a file, each a function of a Model that gives a new one, checked."""

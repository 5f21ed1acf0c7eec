"""Other libraries with our machines loaded; each module imports its library, `registry` finds those installed."""

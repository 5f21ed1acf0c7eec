"""`python -m polhode` is the command line, for shells that do not find `polhode`."""

from polhode.cli import main

if __name__ == "__main__":
    main(prog_name="polhode")

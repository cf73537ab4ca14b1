"""``python -m pertinent`` is the command line."""

from pertinent.cli import main

if __name__ == "__main__":
    main()

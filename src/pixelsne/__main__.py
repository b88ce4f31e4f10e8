"""`python -m pixelsne`"""

from pixelsne.cli import main

if __name__ == "__main__":
    main(prog_name="pixelsne")

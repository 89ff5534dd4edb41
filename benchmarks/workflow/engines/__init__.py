"""One program for each engine: it does the work of one cell and prints one line of JSON."""

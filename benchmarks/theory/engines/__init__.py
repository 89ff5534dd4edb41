"""One module for each engine; each imports the library that it measures and no other."""

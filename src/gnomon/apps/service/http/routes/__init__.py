"""
The routes, one module for each thing they are about.

A route reads its parameters, asks the service as the sender, and gives the answer back as it is.
What decides anything does not belong here.
"""

# Written by python/make_stubs.py.

# Written by python/make_stubs.py.
from typing import Any

ffi: Any
lib: Any

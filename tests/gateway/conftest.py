import importlib.util
import sys
from pathlib import Path

if "gateway_world" not in sys.modules:
    spec = importlib.util.spec_from_file_location(
        "gateway_world", Path(__file__).with_name("world.py")
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["gateway_world"] = module
    spec.loader.exec_module(module)

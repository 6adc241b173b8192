"""Rules that JSON Schema cannot state: those for metadata, and that no request ends the key of all requests."""

import json
import math
import os

import schemathesis

MAX_BYTES = 16 * 1024
MAX_DEPTH = 32


def is_storable(value, depth=0):
    """Whether the gateway stores the value as it is."""
    if isinstance(value, dict):
        return all("\0" not in key and key != "__proto__" for key in value) and is_storable(list(value.values()), depth)
    if isinstance(value, list):
        return depth < MAX_DEPTH and all(is_storable(inner, depth + 1) for inner in value)
    if isinstance(value, str):
        return "\0" not in value
    if isinstance(value, int):
        return abs(value) < 2**53
    return not isinstance(value, float) or math.isfinite(value)


@schemathesis.hook
def filter_body(context, body):
    metadata = body.get("metadata") if isinstance(body, dict) else None
    if not isinstance(metadata, dict):
        return True
    return is_storable(metadata) and len(json.dumps(metadata, ensure_ascii=False).encode(errors="replace")) <= MAX_BYTES


OWN_KEY = os.environ["FUZZ_OWN_KEY"]
NO_KEY = "key_00000000000000000000000000"


@schemathesis.hook
def before_call(context, case, kwargs):
    if OWN_KEY in (case.path_parameters or {}).values() and case.method.upper() != "GET":
        case.path_parameters["id"] = NO_KEY

#!/usr/bin/env python3
"""A persistent hook in Python: one line of JSON in, one line of JSON out."""
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if "protocol" in message:
        answer = {"protocol": 1}
    elif "git push" in json.dumps(message["input"].get("tool_input", {})):
        answer = {"id": message["id"], "block": "pushing is for people; ask one"}
    else:
        answer = {"id": message["id"], "verdict": None}
    print(json.dumps(answer), flush=True)

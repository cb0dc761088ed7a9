"""A small MCP server on stdin and stdout, for tests."""

import json
import os
import sys

TOOLS = [
    {
        "name": "add",
        "description": "Adds.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        },
        "annotations": {"readOnlyHint": True, "title": "Add numbers"},
    },
    {"name": "boom", "description": "Fails.", "inputSchema": {"type": "object"}},
    {"name": "die", "description": "Ends the server.", "inputSchema": {"type": "object"}},
    {"name": "refuse", "description": "Answers with an error.", "inputSchema": {"type": "object"}},
    {"name": "show", "description": "Shows blocks.", "inputSchema": {"type": "object"}},
    {"name": "count", "description": "Has a value.", "inputSchema": {"type": "object"}},
    {"name": "ask", "description": "Asks the user.", "inputSchema": {"type": "object"}},
    {"name": "send", "description": "Sends the user to a page.", "inputSchema": {"type": "object"}},
    {
        "name": "meet",
        "description": "Waits for a second call.",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "judge", "description": "Decides.", "inputSchema": {"type": "object"}},
]
DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg=="
)


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def judge(arguments):
    command = arguments.get("input", {}).get("command", "")
    if "yes" in command:
        return {"behavior": "allow", "updatedInput": arguments["input"]}
    if "plain" in command:
        return {"behavior": "allow"}
    if "garbage" in command:
        return {"whatever": 1}
    return {"behavior": "deny", "message": "the judge says no"}


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def elicit(params):
    send({"id": "question", "method": "elicitation/create", "params": params})
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == "question":
            return message["result"]


def call(name, arguments):
    if name == "ask":
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        return text(json.dumps(elicit({"message": "Your name?", "requestedSchema": form})))
    if name == "send":
        page = {"mode": "url", "url": "https://example.com/in", "elicitationId": "page-1"}
        said = elicit({"message": "Log in there.", **page})
        send({"method": "notifications/elicitation/complete", "params": {"elicitationId": "page-1"}})
        return text(json.dumps(said))
    if name == "add":
        return text(str(arguments["a"] + arguments["b"]))
    if name == "boom":
        return {**text("kaput"), "isError": True}
    if name == "die":
        os._exit(3)
    if name == "show":
        picture = {"type": "image", "data": DOT, "mimeType": "image/png"}
        link = {"type": "resource_link", "uri": "note://one", "name": "one"}
        inner = {"uri": "note://two", "mimeType": "text/plain", "text": "inside"}
        blocks = [{"type": "text", "text": "look"}, picture, link, {"type": "resource", "resource": inner}]
        return {"content": blocks}
    if name == "count":
        return {**text("seven"), "structuredContent": {"n": 7}}
    if name == "judge":
        return text(json.dumps(judge(arguments)))
    raise KeyError(name)


def answer(message):
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": "tiny", "version": "1.0.0"},
            "instructions": "Ask me to add.",
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "resources/list":
        return {"resources": [{"uri": "note://one", "name": "one", "mimeType": "text/plain"}]}
    if method == "resources/templates/list":
        return {"resourceTemplates": []}
    if method == "resources/read":
        if params["uri"] != "note://one":
            raise KeyError(params["uri"])
        return {"contents": [{"uri": "note://one", "mimeType": "text/plain", "text": "a note"}]}
    if method == "tools/call":
        return call(params["name"], params.get("arguments") or {})
    return {}


def is_meeting(message):
    return message["method"] == "tools/call" and message["params"]["name"] == "meet"


def main():
    waiting = []
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if is_meeting(message):
            waiting.append(message["id"])
            if len(waiting) == 2:
                for met in waiting:
                    send({"id": met, "result": text("met")})
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            reply["result"] = answer(message)
        except KeyError as missing:
            reply["error"] = {"code": -32602, "message": f"unknown: {missing}"}
        print(json.dumps(reply), flush=True)


main()

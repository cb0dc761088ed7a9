"""Starts the stub through the official Python SDK, once for each case on stdin.

A case is {name, stub, options, with: ["canUseTool" | "hook" | "sdkServer" | ...]}.
Prints {name: error text or null} as JSON.
"""

import asyncio
import json
import sys
import warnings

from claude_agent_sdk import (
    AgentDefinition,
    ClaudeAgentOptions,
    HookMatcher,
    InMemorySessionStore,
    PermissionResultAllow,
    create_sdk_mcp_server,
    query,
)

warnings.simplefilter("ignore")


async def allow(_name, _input, _context):
    return PermissionResultAllow()


async def nothing(_input, _tool_use_id, _context):
    return {}


def can_use_tool(options):
    options["can_use_tool"] = allow


def hook(options):
    options["hooks"] = {
        "PreToolUse": [HookMatcher(matcher="Bash", timeout=7, on_failure="block", hooks=[nothing])],
        "Stop": [HookMatcher(hooks=[nothing])],
    }


def sdk_server(options):
    servers = dict(options.get("mcp_servers", {}))
    servers["calc"] = create_sdk_mcp_server(name="calc", version="1.0.0", tools=[])
    options["mcp_servers"] = servers


def store(options):
    options["session_store"] = InMemorySessionStore()


ADDITIONS = {"canUseTool": can_use_tool, "hook": hook, "sdkServer": sdk_server, "store": store}


async def hello():
    yield {"type": "user", "message": {"role": "user", "content": "hello"}, "session_id": ""}


async def run(case):
    options = dict(case["options"])
    if "agents" in options:
        options["agents"] = {k: AgentDefinition(**v) for k, v in options["agents"].items()}
    for addition in case.get("with", []):
        ADDITIONS[addition](options)
    try:
        async for _ in query(
            prompt=hello(), options=ClaudeAgentOptions(cli_path=case["stub"], **options)
        ):
            pass
        return None
    except Exception as error:  # the text is what is compared
        return f"{type(error).__name__}: {error}"


async def main():
    limit = asyncio.Semaphore(6)

    async def limited(case):
        async with limit:
            return case["name"], await run(case)

    cases = json.load(sys.stdin)
    print(json.dumps(dict(await asyncio.gather(*map(limited, cases)))))


asyncio.run(main())

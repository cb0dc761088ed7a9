"""The official Python SDK through its normal public API; prints the line that
`bench/probe` describes."""

import asyncio
import json
import os
import resource
import sys
import time

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    ResultMessage,
    create_sdk_mcp_server,
    query,
    tool,
)

SCENARIO = sys.argv[1]
REPORT = {"received": 0, "assistants": 0, "results": 0, "errors": 0, "calls": 0, "ms": 0.0, "note": ""}


def kilobytes(key):
    with open("/proc/self/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key))


async def allow(_name, tool_input, _context):
    REPORT["calls"] += 1
    return PermissionResultAllow(updated_input=tool_input)


async def hook(_input, _tool_use_id, _context):
    REPORT["calls"] += 1
    return {}


@tool("echo", "echoes", {"text": str})
async def echo(arguments):
    REPORT["calls"] += 1
    return {"content": [{"type": "text", "text": arguments["text"]}]}


def options():
    chosen = {"cli_path": os.environ["BENCH_CLI"], "include_partial_messages": True, "setting_sources": []}
    if SCENARIO in ("perm", "slow"):
        chosen["can_use_tool"] = allow
    if SCENARIO == "hook":
        chosen["hooks"] = {"PreToolUse": [HookMatcher(hooks=[hook])]}
    if SCENARIO == "mcp":
        chosen["mcp_servers"] = {"bench": create_sdk_mcp_server("bench", "1.0.0", [echo])}
    return ClaudeAgentOptions(**chosen)


def count(message):
    """What follows the result is not part of what the others are timed for."""
    if REPORT["results"] > 0 and SCENARIO != "hello":
        return
    REPORT["received"] += 1
    REPORT["assistants"] += isinstance(message, AssistantMessage)
    REPORT["results"] += isinstance(message, ResultMessage)


async def read():
    began = time.perf_counter()
    try:
        if SCENARIO in ("perm", "hook", "mcp", "odd"):
            async with ClaudeSDKClient(options()) as client:
                await client.query("go")
                async for message in client.receive_response():
                    count(message)
                REPORT["ms"] = (time.perf_counter() - began) * 1000
            return
        async for message in query(prompt="go", options=options()):
            count(message)
            if isinstance(message, ResultMessage):
                REPORT["ms"] = (time.perf_counter() - began) * 1000
    except Exception as error:  # whatever ends the stream is the finding
        REPORT["errors"] += 1
        REPORT["note"] = str(error)
        REPORT["ms"] = (time.perf_counter() - began) * 1000


async def hello():
    times = []
    for _ in range(30):
        await read()
        times.append(REPORT["ms"])
    REPORT["ms"] = sorted(times)[15]


async def slow():
    async with ClaudeSDKClient(options()) as client:
        await client.query("go")
        messages = client.receive_response()
        count(await anext(messages))
        REPORT["nap_before_kb"] = kilobytes("VmRSS")
        await asyncio.sleep(3)
        REPORT["nap_after_kb"] = kilobytes("VmRSS")
        async for message in messages:
            count(message)


async def drop_it():
    messages = query(prompt="go", options=options())
    await anext(messages)
    began = time.perf_counter()
    closing = asyncio.ensure_future(messages.aclose())
    print(f"dropped after {(time.perf_counter() - began) * 1000:.0f} ms", flush=True)
    await asyncio.wait([closing], timeout=2.5)
    await asyncio.sleep(2.5)


def main():
    if SCENARIO == "drop":
        asyncio.run(drop_it())
        return
    asyncio.run({"hello": hello, "slow": slow}.get(SCENARIO, read)())
    usage = resource.getrusage(resource.RUSAGE_SELF)
    REPORT["cpu_ms"] = round((usage.ru_utime + usage.ru_stime) * 1000)
    REPORT["rss_kb"] = kilobytes("VmHWM")
    REPORT["note"] = REPORT["note"][:120]
    print(json.dumps(REPORT))


main()

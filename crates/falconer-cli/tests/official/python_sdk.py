"""Drives an engine with the official Python SDK: one case per run, one JSON line per fact.

    python python_sdk.py CASE ENGINE
"""

import asyncio
import json
import os
import sys

import claude_agent_sdk as sdk

CASE, ENGINE = sys.argv[1:3]
BASE = {"cli_path": ENGINE, "cwd": os.getcwd()}


def tell(fact, value):
    print(json.dumps({"fact": fact, "value": value}), flush=True)


def seen(message):
    tell("message", type(message).__name__)
    if isinstance(message, sdk.ResultMessage):
        tell(
            "result",
            {
                "subtype": message.subtype,
                "is_error": message.is_error,
                "result": None if message.is_error else message.result,
                "num_turns": message.num_turns,
                "structured_output": getattr(message, "structured_output", None),
            },
        )


async def run(prompt, **options):
    results = []
    async for message in sdk.query(prompt=prompt, options=sdk.ClaudeAgentOptions(**BASE, **options)):
        seen(message)
        if isinstance(message, sdk.ResultMessage):
            results.append(message)
    return results


async def turn(client, prompt):
    await client.query(prompt)
    async for message in client.receive_response():
        seen(message)


async def one_shot():
    await run("hi")


async def streaming_input():
    async with sdk.ClaudeSDKClient(sdk.ClaudeAgentOptions(**BASE)) as client:
        await turn(client, "first")
        await turn(client, "second")


async def partial_messages():
    await run("hi", include_partial_messages=True)


async def permissions():
    async def can_use_tool(tool, data, context):
        tell("asked", {"tool": tool, "input": data})
        if "denied" in data["command"]:
            return sdk.PermissionResultDeny(message="not that")
        edited = {**data, "command": data["command"] + " # edited"}
        return sdk.PermissionResultAllow(updated_input=edited)

    options = sdk.ClaudeAgentOptions(**BASE, permission_mode="default", can_use_tool=can_use_tool)
    async with sdk.ClaudeSDKClient(options) as client:
        await turn(client, "go")


async def questions():
    async def can_use_tool(tool, data, context):
        tell("asked", {"tool": tool, "questions": data["questions"]})
        return sdk.PermissionResultAllow(updated_input={**data, "answers": {"Which color?": "Blue"}})

    options = sdk.ClaudeAgentOptions(**BASE, permission_mode="default", can_use_tool=can_use_tool)
    async with sdk.ClaudeSDKClient(options) as client:
        await turn(client, "ask")


async def hooks():
    async def before(data, tool_use_id, context):
        tell("hook", {"event": data["hook_event_name"], "tool": data["tool_name"], "id": tool_use_id})
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}

    async def after(data, tool_use_id, context):
        tell("hook", {"event": data["hook_event_name"], "tool": data["tool_name"], "id": tool_use_id})
        return {}

    options = sdk.ClaudeAgentOptions(
        **BASE,
        permission_mode="default",
        hooks={
            "PreToolUse": [sdk.HookMatcher(matcher="Bash", hooks=[before])],
            "PostToolUse": [sdk.HookMatcher(matcher="Bash", hooks=[after])],
        },
    )
    async with sdk.ClaudeSDKClient(options) as client:
        await turn(client, "go")


async def tools():
    @sdk.tool("add", "Adds.", {"a": float, "b": float})
    async def add(data):
        tell("called", data)
        return {"content": [{"type": "text", "text": str(data["a"] + data["b"])}]}

    server = sdk.create_sdk_mcp_server("calc", tools=[add])
    options = sdk.ClaudeAgentOptions(
        **BASE, permission_mode="default", mcp_servers={"calc": server}, allowed_tools=["mcp__calc__add"]
    )
    async with sdk.ClaudeSDKClient(options) as client:
        await turn(client, "add")


async def structured_output():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    await run("go", output_format={"type": "json_schema", "schema": schema})


async def interrupt():
    options = sdk.ClaudeAgentOptions(**BASE, include_partial_messages=True)
    async with sdk.ClaudeSDKClient(options) as client:
        await client.query("go")
        stopped = False
        async for message in client.receive_response():
            seen(message)
            delta = isinstance(message, sdk.StreamEvent) and message.event["type"] == "content_block_delta"
            if delta and not stopped:
                stopped = True
                await client.interrupt()
                tell("interrupted", True)


async def resume():
    [first] = await run("first")
    [second] = await run("second", resume=first.session_id)
    tell("same session", first.session_id == second.session_id)


async def fork():
    [first] = await run("first")
    [second] = await run("second", resume=first.session_id, fork_session=True)
    tell("same session", first.session_id == second.session_id)


async def session_functions():
    [first] = await run("remember the milk")
    place = {"directory": os.getcwd()}
    listed = sdk.list_sessions(**place)
    tell("listed", [session.session_id == first.session_id for session in listed])
    tell("first prompt", listed[0].first_prompt if listed else None)
    messages = sdk.get_session_messages(first.session_id, **place)
    tell("messages", [message.type for message in messages])
    sdk.rename_session(first.session_id, "Milk", **place)
    info = sdk.get_session_info(first.session_id, **place)
    tell("title", info.custom_title)


async def checkpoints():
    options = sdk.ClaudeAgentOptions(
        **BASE, permission_mode="acceptEdits", enable_file_checkpointing=True, extra_args={"replay-user-messages": None}
    )
    async with sdk.ClaudeSDKClient(options) as client:
        await client.query("write")
        prompt = None
        async for message in client.receive_response():
            seen(message)
            if isinstance(message, sdk.UserMessage) and message.uuid and prompt is None:
                prompt = message.uuid
        await client.rewind_files(prompt)
        tell("rewound", True)


asyncio.run(globals()[CASE]())

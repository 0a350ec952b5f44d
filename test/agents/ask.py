"""Asks a node over HTTP or a program over stdio by the official Python package, and prints what it got as JSON.

    python ask.py MODE http URL TOKEN TOOL ARGUMENTS
    python ask.py MODE stdio PROGRAM TOOL ARGUMENTS

MODE is `legacy` (the handshake of 2025) or a revision. The variables of the program come from the environment.
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

mode, kind, *rest = sys.argv[1:]


def open_transport():
    if kind == "stdio":
        return stdio_client(StdioServerParameters(command="node", args=[rest[0]], env=dict(os.environ)))
    url, token = rest[:2]
    return streamable_http_client(url, http_client=httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60))


async def main():
    name, arguments = rest[-2:]
    async with Client(open_transport(), mode=mode) as client:
        tools = (await client.list_tools()).tools
        resources = (await client.list_resources()).resources
        result = await client.call_tool(name, json.loads(arguments))
        print(
            json.dumps(
                {
                    "revision": client.protocol_version,
                    "tools": [tool.name for tool in tools],
                    "resources": [str(resource.uri) for resource in resources],
                    "answer": result.structured_content,
                    "is_error": bool(result.is_error),
                }
            )
        )


asyncio.run(main())

#!/bin/sh
# Stands in for the CLI: writes down how it was started and the first line it is sent,
# answers that line, and ends with a result. Everything lands beside the script itself.
here=$(dirname "$0")
if [ "$1" = "--version" ] || [ "$1" = "-v" ]; then
    echo "2.1.325 (Claude Code)"
    exit 0
fi
cat "/proc/$$/environ" >"$here/env"
: >"$here/args"
[ $# -gt 0 ] && printf '%s\0' "$@" >"$here/args"
pwd >"$here/cwd"
IFS= read -r line
printf '%s\n' "$line" >"$here/initialize"
id=$(printf '%s' "$line" | sed 's/.*"request_id":[ ]*"\([^"]*\)".*/\1/')
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[],"agents":[],"models":[],"account":{},"output_style":"default","available_output_styles":[],"hook_on_failure_supported":true,"hooks_applied":true,"claude_code_version":"2.1.325"}}}\n' "$id"
IFS= read -r line
printf '%s\n' "$line" >"$here/user"
printf '{"type":"result","subtype":"success","is_error":false,"result":"","duration_ms":1,"duration_api_ms":1,"num_turns":1,"total_cost_usd":0,"usage":{},"modelUsage":{},"permission_denials":[],"session_id":"7f4c1b9e-3d2a-4a5b-9c8d-1e2f3a4b5c6d","uuid":"7f4c1b9e-3d2a-4a5b-9c8d-1e2f3a4b5c6e"}\n'
printf '{"type":"system","subtype":"session_state_changed","state":"idle","session_id":"7f4c1b9e-3d2a-4a5b-9c8d-1e2f3a4b5c6d","uuid":"7f4c1b9e-3d2a-4a5b-9c8d-1e2f3a4b5c6f","sdk_host_only":true}\n'
touch "$here/done"
cat >/dev/null

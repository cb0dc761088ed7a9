"""Falconer's API. Made from openapi.json by `cargo xtask openapi`; do not edit.

Needs nothing but Python 3.9:

    from falconer import Falconer

    falconer = Falconer("http://127.0.0.1:4780", token)
    session = falconer.create_session(cwd="/srv/site", message={"client_msg_id": "1", "text": "hello"})
    for frame in falconer.follow(session["id"]):
        print(frame.event, frame.data)
"""

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

# The server says something every 15 seconds; a stream that is silent for longer is gone.
SILENCE = 60.0
# An agent may have to be started before an answer.
PATIENCE = 120.0


class Frame(NamedTuple):
    """A frame of a stream. `id` is the number of an event."""

    event: str
    id: Optional[int]
    data: Any


class File(NamedTuple):
    """Bytes with a name."""

    name: str
    content: bytes


class FalconerError(Exception):
    """A refusal of the server, with its own words."""

    def __init__(self, status: int, problem: Dict[str, Any]):
        super().__init__(problem.get("detail") or problem.get("title") or f"the server answered {status}")
        self.status = status
        self.problem = problem

    @property
    def code(self) -> Optional[str]:
        """The kind of the problem, for programs."""
        return self.problem.get("code")


def _word(text: str) -> str:
    return urllib.parse.quote(str(text), safe="")


def _refusal(error: urllib.error.HTTPError) -> FalconerError:
    text = error.read().decode("utf-8", "replace")
    try:
        problem = json.loads(text)
    except ValueError:
        problem = {"detail": text}
    return FalconerError(error.code, problem if isinstance(problem, dict) else {"detail": text})


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Falconer:
    """A server. The token is sent as a header and never in a URL."""

    def __init__(self, url: str, token: str):
        self.url = url.rstrip("/")
        self.token = token
        # A token must not go through whatever proxy the environment names, nor to another address.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects())

    def follow(self, session: str, after: int = 0) -> Iterator[Frame]:
        """Follows a session from after an event, and comes back by itself for as long as it is read."""
        failures = 0
        while True:
            try:
                for frame in self.stream(f"/v1/sessions/{_word(session)}/stream", after):
                    failures = 0
                    if frame.id is not None:
                        after = frame.id
                    yield frame
                    if frame.event == "gone":
                        return
            except FalconerError as refusal:
                if refusal.status < 500:
                    raise
            except (OSError, http.client.HTTPException):
                pass  # the connection was cut: come back
            time.sleep(min(0.25 * 2**failures, 10.0))
            failures += 1

    def stream(self, path: str, after: int = 0) -> Iterator[Frame]:
        """The frames of one stream, until it ends."""
        headers = {"Last-Event-ID": str(after)} if after else {}
        with self._open("GET", path, headers, None, SILENCE) as response:
            fields: Dict[str, str] = {}
            for line in response:
                text = line.decode("utf-8").rstrip("\r\n")
                if text:
                    name, _, value = text.partition(":")
                    fields[name] = value[1:] if value.startswith(" ") else value
                    continue
                if fields.get("event"):
                    number = int(fields["id"]) if "id" in fields else None
                    yield Frame(fields["event"], number, json.loads(fields.get("data", "null")))
                fields = {}

    def _open(self, method: str, path: str, headers: Dict[str, str], body: Optional[bytes], limit: float) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", **headers}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            return self._opener.open(request, timeout=limit)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error) from None

    def _call(self, method: str, path: str, query: Dict[str, Any], body: Any, reads: str) -> Any:
        asked = {name: value for name, value in query.items() if value is not None}
        if asked:
            path += "?" + urllib.parse.urlencode(asked)
        headers = {"Accept": "application/json"}
        content = None
        if isinstance(body, File):
            headers["X-Falconer-Name"] = _word(body.name)
            headers["Content-Type"] = "application/octet-stream"
            content = body.content
        elif method in ("POST", "PATCH"):
            headers["Content-Type"] = "application/json"
            said = {name: value for name, value in (body or {}).items() if value is not None}
            content = json.dumps(said).encode("utf-8")
        with self._open(method, path, headers, content, PATIENCE) as response:
            answer = response.read()
        if reads == "json":
            return json.loads(answer)
        if reads == "text":
            return answer.decode("utf-8")
        return answer if reads == "bytes" else None

    def health(self) -> Dict[str, Any]:
        """Whether the process answers."""
        return self._call("GET", "/health", {}, None, "json")

    def metrics(self) -> str:
        """Counters for Prometheus."""
        return self._call("GET", "/metrics", {}, None, "text")

    def openapi(self) -> Dict[str, Any]:
        """This description."""
        return self._call("GET", "/openapi.json", {}, None, "json")

    def ready(self) -> Dict[str, Any]:
        """Whether it can do its work: shown by reading and writing the store."""
        return self._call("GET", "/ready", {}, None, "json")

    def store_attachment(self, name: str, body: bytes) -> Dict[str, Any]:
        """Store a file, to send it with a message."""
        return self._call("POST", "/v1/attachments", {}, File(name, body), "json")

    def get_attachment(self, id: str) -> bytes:
        """A stored file; pictures can be shown, everything else is saved."""
        return self._call("GET", f"/v1/attachments/{_word(id)}", {}, None, "bytes")

    def read_audit(self, *, after: Optional[int] = None, limit: Optional[int] = None) -> Dict[str, Any]:
        """Who did what."""
        return self._call("GET", "/v1/audit", {"after": after, "limit": limit}, None, "json")

    def make_code(self, *, name: Optional[str] = None, scopes: Optional[List[Any]] = None) -> Dict[str, Any]:
        """Make a link with which another browser comes in, once."""
        return self._call("POST", "/v1/codes", {}, {"name": name, "scopes": scopes}, "json")

    def list_engines(self) -> Dict[str, Any]:
        """The engines and whether they could be started now."""
        return self._call("GET", "/v1/engines", {}, None, "json")

    def list_folders(self, *, path: Optional[str] = None) -> Dict[str, Any]:
        """The folders in a folder, below the configured roots."""
        return self._call("GET", "/v1/folders", {"path": path}, None, "json")

    def login(self, *, code: str) -> None:
        """Trade a one-time code for the page's cookie."""
        return self._call("POST", "/v1/login", {}, {"code": code}, "nothing")

    def logout(self) -> None:
        """Forget the cookie; its token is of no use any more."""
        return self._call("POST", "/v1/logout", {}, None, "nothing")

    def me(self) -> Dict[str, Any]:
        """Who you are here, and what you may do."""
        return self._call("GET", "/v1/me", {}, None, "json")

    def list_models(self, *, engine: Optional[str] = None) -> Dict[str, Any]:
        """The models of an engine: those it named when it was last started, else those known of it."""
        return self._call("GET", "/v1/models", {"engine": engine}, None, "json")

    def render_texts(self, *, texts: List[Any]) -> Dict[str, Any]:
        """Markdown of an agent as HTML that is safe to show."""
        return self._call("POST", "/v1/render", {}, {"texts": texts}, "json")

    def list_requests(self, *, state: Optional[str] = None, session: Optional[str] = None) -> Dict[str, Any]:
        """What agents wait for, in all sessions."""
        return self._call("GET", "/v1/requests", {"state": state, "session": session}, None, "json")

    def get_request(self, id: str) -> Any:
        """One request."""
        return self._call("GET", f"/v1/requests/{_word(id)}", {}, None, "json")

    def answer_request(self, id: str, *, digest: str, verdict: Dict[str, Any], shown: Optional[str] = None) -> Dict[str, Any]:
        """Answer exactly what was shown; the first answer counts."""
        return self._call("POST", f"/v1/requests/{_word(id)}/answer", {}, {"digest": digest, "verdict": verdict, "shown": shown}, "json")

    def list_rules(self) -> Dict[str, Any]:
        """The rules, with who made them and how often they answered."""
        return self._call("GET", "/v1/rules", {}, None, "json")

    def add_rule(self, *, text: str, effect: str, scope: Dict[str, Any]) -> Any:
        """Make a rule."""
        return self._call("POST", "/v1/rules", {}, {"text": text, "effect": effect, "scope": scope}, "json")

    def explain_rule(self, *, tool: str, input: Optional[Any] = None, cwd: Optional[str] = None, session: Optional[str] = None, rule: Optional[str] = None) -> Dict[str, Any]:
        """What the rules say about a call, why, and what a new rule would have allowed."""
        return self._call("POST", "/v1/rules/explain", {}, {"tool": tool, "input": input, "cwd": cwd, "session": session, "rule": rule}, "json")

    def remove_rule(self, id: str) -> None:
        """Remove a rule; from now on it answers nothing."""
        return self._call("DELETE", f"/v1/rules/{_word(id)}", {}, None, "nothing")

    def change_rule(self, id: str, *, text: Optional[str] = None, effect: Optional[str] = None, scope: Optional[Dict[str, Any]] = None) -> Any:
        """Change a rule."""
        return self._call("PATCH", f"/v1/rules/{_word(id)}", {}, {"text": text, "effect": effect, "scope": scope}, "json")

    def list_sessions(self, *, state: Optional[str] = None, q: Optional[str] = None, archived: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None) -> Dict[str, Any]:
        """The sessions, the one that changed last first."""
        return self._call("GET", "/v1/sessions", {"state": state, "q": q, "archived": archived, "limit": limit, "cursor": cursor}, None, "json")

    def create_session(self, *, cwd: str, id: Optional[str] = None, title: Optional[str] = None, engine: Optional[str] = None, model: Optional[str] = None, mode: Optional[str] = None, limits: Optional[Dict[str, Any]] = None, isolation: Optional[Dict[str, Any]] = None, options: Optional[Dict[str, Any]] = None, profile: Optional[str] = None, message: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """Make a session, with a first message if there is one."""
        return self._call("POST", "/v1/sessions", {}, {"cwd": cwd, "id": id, "title": title, "engine": engine, "model": model, "mode": mode, "limits": limits, "isolation": isolation, "options": options, "profile": profile, "message": message}, "json")

    def get_session(self, id: str) -> Dict[str, Any]:
        """One session."""
        return self._call("GET", f"/v1/sessions/{_word(id)}", {}, None, "json")

    def delete_session(self, id: str) -> None:
        """End a session and forget everything about it but the audit."""
        return self._call("DELETE", f"/v1/sessions/{_word(id)}", {}, None, "nothing")

    def change_session(self, id: str, *, title: Optional[str] = None, model: Optional[str] = None, mode: Optional[str] = None, pinned: Optional[bool] = None, archived: Optional[bool] = None) -> Dict[str, Any]:
        """Change title, model, mode, or where it is shown."""
        return self._call("PATCH", f"/v1/sessions/{_word(id)}", {}, {"title": title, "model": model, "mode": mode, "pinned": pinned, "archived": archived}, "json")

    def close_session(self, id: str) -> Dict[str, Any]:
        """End the agent; the session takes no messages until it is resumed."""
        return self._call("POST", f"/v1/sessions/{_word(id)}/close", {}, None, "json")

    def list_commands(self, id: str) -> Dict[str, Any]:
        """The commands and models of a session's engine; empty unless it runs."""
        return self._call("GET", f"/v1/sessions/{_word(id)}/commands", {}, None, "json")

    def list_events(self, id: str, *, after: Optional[int] = None, limit: Optional[int] = None, types: Optional[str] = None) -> Dict[str, Any]:
        """What happened in a session, in order."""
        return self._call("GET", f"/v1/sessions/{_word(id)}/events", {"after": after, "limit": limit, "types": types}, None, "json")

    def export_session(self, id: str, *, format: Optional[str] = None) -> str:
        """The whole session as a file."""
        return self._call("GET", f"/v1/sessions/{_word(id)}/export", {"format": format}, None, "text")

    def fork_session(self, id: str, *, at: Optional[int] = None, title: Optional[str] = None) -> Dict[str, Any]:
        """Make a session that goes on from here on its own."""
        return self._call("POST", f"/v1/sessions/{_word(id)}/fork", {}, {"at": at, "title": title}, "json")

    def interrupt_session(self, id: str) -> None:
        """End the turn under way; what is queued runs next."""
        return self._call("POST", f"/v1/sessions/{_word(id)}/interrupt", {}, None, "nothing")

    def list_messages(self, id: str) -> Dict[str, Any]:
        """What was said to the agent, and how far it came."""
        return self._call("GET", f"/v1/sessions/{_word(id)}/messages", {}, None, "json")

    def send_message(self, id: str, *, client_msg_id: str, text: str, attachments: Optional[List[Any]] = None, delivery: Optional[str] = None) -> Dict[str, Any]:
        """Say something to the agent; the same `client_msg_id` counts once."""
        return self._call("POST", f"/v1/sessions/{_word(id)}/messages", {}, {"client_msg_id": client_msg_id, "text": text, "attachments": attachments, "delivery": delivery}, "json")

    def cancel_message(self, id: str, message: str) -> Dict[str, Any]:
        """Take back a message the agent has not been given yet."""
        return self._call("DELETE", f"/v1/sessions/{_word(id)}/messages/{_word(message)}", {}, None, "json")

    def resume_session(self, id: str) -> Dict[str, Any]:
        """Start the agent again, with its own conversation; what is queued goes on."""
        return self._call("POST", f"/v1/sessions/{_word(id)}/resume", {}, None, "json")

    def stop_task(self, id: str, task: str) -> None:
        """Stop one background task; the rest goes on."""
        return self._call("POST", f"/v1/sessions/{_word(id)}/tasks/{_word(task)}/stop", {}, None, "nothing")

    def list_tokens(self) -> Dict[str, Any]:
        """The tokens, without their secrets."""
        return self._call("GET", "/v1/tokens", {}, None, "json")

    def make_token(self, *, name: str, scopes: List[Any]) -> Dict[str, Any]:
        """Make a token; its secret is shown this once."""
        return self._call("POST", "/v1/tokens", {}, {"name": name, "scopes": scopes}, "json")

    def revoke_token(self, id: str) -> None:
        """Revoke a token; what is open with it ends."""
        return self._call("DELETE", f"/v1/tokens/{_word(id)}", {}, None, "nothing")

    def show_trust(self, *, cwd: Optional[str] = None) -> Any:
        """What a project wants beyond narrowing, and whether it is trusted."""
        return self._call("GET", "/v1/trust", {"cwd": cwd}, None, "json")

    def decide_trust(self, *, cwd: str, digest: str, verdict: str) -> Any:
        """Trust the content of a project that was shown, or take the trust back."""
        return self._call("POST", "/v1/trust", {}, {"cwd": cwd, "digest": digest, "verdict": verdict}, "json")

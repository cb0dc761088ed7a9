// Falconer's API. Made from openapi.json by `cargo xtask openapi`; do not edit.
/** A tool call. */
export type Action = { kind: ActionKind; title: string; tool: string; input: unknown; status: ActionStatus; agent?: string | null; result?: (Preview | null); images?: (Image)[]; diff?: (Diff | null) };

/** Kinds of actions. */
export type ActionKind = ("command" | "file_change" | "tool" | "web_search" | "note" | "question" | "subagent" | "mcp");

/** The progress of an action. */
export type ActionStatus = ("running" | "ok" | "failed" | "denied" | "aborted" | "unknown");

/** An answer to exactly what was shown. */
export type AnswerRequest = { digest: string; verdict: Verdict; shown?: Shown };

/** The request with its answer. */
export type Answered = { request: Request };

/** Something that came with a message. */
export type Attachment = { name: string; media_type: string; bytes: number };

/** A file that goes with a message. */
export type Attachment2 = { id: BlobId; name: string; media_type: string; bytes: number };

/** The number of an audit record; that of a later one is higher. */
export type AuditId = number;

/** Who did what, oldest first. */
export type AuditLog = { records: (AuditRecord)[]; more: boolean };

/** Something somebody did. It outlives the session it is about, and cannot be changed. */
export type AuditRecord = { id: AuditId; at: string; who: string; action: string; session?: (SessionId | null); detail?: unknown };

/** An attachment or a long output. */
export type BlobId = string;

/** What is to be different about a rule; what is missing stays. */
export type ChangeRule = { text?: string | null; effect?: (RuleEffect | null); scope?: (RuleReach2 | null) };

/** What is to be different; what is missing stays. */
export type ChangeSession = { title?: string | null; model?: string | null; mode?: string | null; pinned?: boolean | null; archived?: boolean | null };

/** A login link. It works once. */
export type Code = { path: string; expires_at: string };

/** What a program can tell apart. */
export type Code2 = ("invalid_json" | "invalid_value" | "unauthenticated" | "missing_scope" | "origin_not_allowed" | "outside_roots" | "bypass_not_allowed" | "not_found" | "method_not_allowed" | "timeout" | "conflict" | "already_answered" | "changed" | "expired" | "wrong_state" | "session_held" | "too_large" | "unsupported_media_type" | "host_not_allowed" | "too_many_attempts" | "too_many_streams" | "isolation_not_available" | "engine_failed" | "unavailable" | "internal");

/** A login link to make. */
export type CodeAsked = { name?: string | null; scopes?: (Scope)[] | null };

/** A command the agent understands when a message starts with `/` and its name. */
export type Command = { name: string; description?: string | null; argument_hint?: string | null };

/** What the engine of a session offers. */
export type Commands = { commands: (Command)[]; models: (Model)[] };

/** A session to make. */
export type CreateSession = { id?: string | null; title?: string | null; engine?: string | null; model?: string | null; cwd: string; mode?: string | null; limits?: (SessionLimits | null); isolation?: (SessionIsolation | null); options?: (SessionOptions | null); profile?: string | null; message?: (SendMessage | null) };

/** A decision about the content of a project. */
export type DecideTrust = { cwd: string; digest: string; verdict: TrustVerdict };

/** An answer: who, when and what. */
export type DecisionRecord = { verdict: unknown; by: string; at: string; edited?: unknown; rule?: string | null; message?: string | null; shown?: (Shown | null) };

/** The treatment of a message while the agent is at work. */
export type Delivery = ("queue" | "steer" | "interrupt");

/** A call that was not permitted. */
export type Denial = { tool: string; id: string; input: unknown };

/** A change of one file. */
export type Diff = { path: string; hunks: string };

/** The engines, best first. */
export type EngineList = { engines: (EngineName)[] };

/** An engine that can be asked for. */
export type EngineName = { name: string; available: boolean; reason: string };

/** One thing that happened. */
export type Event = { seq: number; time: string; session: string; run: RunId; turn?: (TurnNumber | null); source: Source; parent?: string | null; raw?: unknown } & ({ type: "run.started"; data: RunStarted } | { type: "turn.started"; data: TurnStarted } | { type: "turn.completed"; data: TurnCompleted } | { type: "item.started"; data: Item } | { type: "item.delta"; data: { id: ItemId; offset?: number; text: string } } | { type: "item.completed"; data: Item } | { type: "permission.requested"; data: PermissionRequested } | { type: "permission.resolved"; data: PermissionResolved } | { type: "question.requested"; data: QuestionRequested } | { type: "question.resolved"; data: QuestionResolved } | { type: "task.started"; data: Task } | { type: "task.progress"; data: Task } | { type: "task.completed"; data: Task } | { type: "session.changed"; data: SessionChanged } | { type: "retry"; data: Retry } | { type: "limit"; data: Limit } | { type: "warning"; data: Warning } | { type: "unknown"; data: Unknown } | { type: "run.completed"; data: RunCompleted });

/** Some events of a session, in order, byte for byte as they are stored. */
export type EventList = { events: (Event)[]; head: number; more: boolean };

/** A call to judge. */
export type ExplainRule = { tool: string; input?: unknown; cwd?: string | null; session?: string | null; rule?: string | null };

/** What the rules say about a call, and why. */
export type Explanation = { effect: RuleEffect; because: string; rule?: (RuleId | null); suggestions: (Suggested)[]; would_have_allowed?: (WouldHave | null) };

/** The reason a turn or a run failed. */
export type Failure = { class: string; kind?: (FailureKind | null); text: string; hint?: string | null };

/** A class of failures that a program handles in its own way. */
export type FailureKind = ("authentication" | "billing" | "rate_limit" | "overloaded" | "service" | "model_not_found" | "prompt_too_long" | "output_limit" | "refusal" | "invalid_request" | "max_turns" | "budget" | "structured_output" | "interrupted" | "startup" | "unknown");

/** A folder. */
export type Folder = { name: string; path: string };

/** A folder and those in it. */
export type FolderList = { path?: string | null; folders: (Folder)[] };

/** Where to fork. */
export type ForkSession = { at?: number | null; title?: string | null };

/** How the server is. */
export type Health = { status: string; version: string };

/** A process that runs sessions of the same store. */
export type Holder = { program: string; url?: string | null; machine?: string | null; process?: number | null };

/** An image that a tool returned.  Its bytes are never part of an event's JSON: the process that runs the session has them in `data`, and a store keeps them as an attachment, which `id` names. */
export type Image = { media_type: string; bytes: number; id?: string | null };

/** A message of a user. */
export type InputRecord = { id: MessageId; session: SessionId; client_msg_id: string; text: string; attachments?: (Attachment2)[]; delivery: Delivery; state: InputState; by?: string | null; created_at: string };

/** The progress of a message. */
export type InputState = ("queued" | "sent" | "done" | "cancelled" | "interrupted");

/** A message, a thought or an action. */
export type Item = { id: ItemId; content: ItemContent };

/** The kind and content of an item. */
export type ItemContent = (Prompt | { type: "message"; text: string } | { type: "injected"; text: string } | { type: "thought"; text: string } | { type: "summary"; text: string; of: (string)[] } | Action);

/** A message, a thought or an action; an action has the id of its tool call. */
export type ItemId = string;

/** The end of the last turn of a session. */
export type LastTurn = { seq: number; outcome: TurnOutcome; failure?: (Failure | null) };

/** A limit is near, or reached. */
export type Limit = { kind: string; reached: boolean; class?: (LimitClass | null); resets_at?: number | null; text: string };

/** Kinds of limits of a service. */
export type LimitClass = ("short" | "quota");

/** A one-time code to trade for the cookie. */
export type Login = { code: string };

/** A new token. Its secret is shown this once. */
export type MadeToken = { token: TokenRecord; secret: string };

/** Who is asking, and what this server lets them do. */
export type Me = { name: string; scopes: (Scope)[]; bypass_allowed: boolean; roots: (string)[]; version: string };

/** A message of a user: a UUID. */
export type MessageId = string;

/** The messages of a session, in the order they were sent. */
export type MessageList = { messages: (InputRecord)[] };

/** A model. */
export type Model = { id: string; name?: string | null; description?: string | null };

/** Models that can be asked for. */
export type ModelList = { engine: string; models: (Model)[] };

/** A rule that comes with an answer. */
export type NewRule = { text: string; and?: (string)[]; scope: RuleReach };

/** The outcome of a run. */
export type Outcome = ("ok" | "failed" | "cancelled");

/** The agent wants to do something. */
export type PermissionRequested = { id: string; tool_use_id: string; tool: string; input: unknown; digest: string; reason?: string | null; suggestions?: (unknown)[]; agent?: string | null; title?: string | null; description?: string | null; blocked_path?: string | null; cwd?: string | null; needs_person?: boolean; expires_at?: string | null };

/** Somebody, or something, answered. */
export type PermissionResolved = { id: string; resolution: Resolution; by: string; message?: string | null; edited?: unknown; rule?: unknown; shown?: (Shown | null) };

/** The beginning of a text, and how much there was of it. */
export type Preview = { text: string; length: number; first_line: string; truncated: boolean };

/** An error as it is sent. */
export type Problem = { type: string; title: string; status: number; detail: string; code: Code2; hint?: string | null; request?: (Request | null); holder?: (Holder | null) };

/** What a project wants beyond narrowing, and whether somebody trusts it. */
export type ProjectTrust = { project: string; standing: string; digest: string; items: (TrustItem)[]; gone: (string)[]; ignored: (string)[] };

/** A message to the agent, from being accepted to being given to the engine. */
export type Prompt = { text: string; delivery: Delivery; state: PromptState; attachments?: (Attachment)[]; by?: string | null; reason?: string | null };

/** The progress of a message. */
export type PromptState = ("queued" | "sent" | "cancelled");

/** Kinds of questions. */
export type QuestionKind = ("choice" | "plan" | "elicitation");

/** The agent asks the user something. */
export type QuestionRequested = { id: string; kind: QuestionKind; form: unknown; digest?: string; tool_use_id?: string | null; expires_at?: string | null };

/** The question is answered, or not asked any more. */
export type QuestionResolved = { id: string; resolution: Resolution; by: string; answers?: unknown; message?: string | null; shown?: (Shown | null) };

/** Markdown texts. */
export type Render = { texts: (string)[] };

/** Safe HTML, in the order of the texts. */
export type Rendered = { html: (string)[] };

/** Something the agent waits for. */
export type Request = RequestRecord;

/** A permission or a question; the id the event names. */
export type RequestId = string;

/** The kind of a request. */
export type RequestKind = ("permission" | "choice" | "plan" | "elicitation");

/** Some requests, oldest first. */
export type RequestList = { requests: (Request)[] };

/** A permission or a question. */
export type RequestRecord = { id: RequestId; session: SessionId; kind: RequestKind; tool?: string | null; tool_use_id?: string | null; input: unknown; digest: string; title?: string | null; description?: string | null; blocked_path?: string | null; reason?: string | null; cwd?: string | null; suggestions?: (unknown)[]; agent?: string | null; requested_at: string; expires_at?: string | null; state: RequestState; decision?: (DecisionRecord | null) };

/** The progress of a request. */
export type RequestState = ("pending" | "answered" | "delivered" | "expired" | "withdrawn");

/** The fate of a request. */
export type Resolution = ("allowed" | "denied" | "withdrawn" | "expired");

/** The model could not be asked and is asked again. */
export type Retry = { attempt: number; max_attempts: number; delay_ms: number; status?: number | null; error?: string | null };

/** A rule that answers permissions. */
export type Rule = RuleRecord;

/** A rule to make. */
export type RuleAsked = { text: string; effect: RuleEffect; scope: RuleReach2 };

/** The effect of a rule. */
export type RuleEffect = ("allow" | "deny" | "ask");

/** A rule. */
export type RuleId = string;

/** All rules, oldest first. */
export type RuleList = { rules: (Rule)[] };

/** Where a rule holds. */
export type RuleReach = ("session" | "project" | "user");

/** Where a rule holds. */
export type RuleReach2 = ({ type: "session"; id: string } | { type: "project"; path: string } | { type: "user" });

/** A rule. */
export type RuleRecord = { id: RuleId; text: string; effect: RuleEffect; scope: RuleScope; created_by: string; created_at: string; used: number; last_used?: string | null };

/** The scope of a rule. */
export type RuleScope = ({ type: "session"; id: SessionId } | { type: "project"; path: string } | { type: "user" });

/** The run is over. */
export type RunCompleted = { outcome: Outcome; failure?: (Failure | null); text: string; structured_output?: unknown; native_session?: string | null; turns: number; tokens: Tokens; cost_usd: number; stderr?: (string)[] };

/** One run: from the start of an engine to its end. */
export type RunId = string;

/** The engine and settings of a run. */
export type RunStarted = { engine: string; engine_reason?: string | null; version?: string | null; native_session: string; model?: string | null; cwd: string; permission_mode?: string | null; auth?: string | null; billing?: string | null; sandbox?: string | null; confinement?: string | null; tools?: (string)[]; tool_schemas?: Record<string, unknown>; mcp_servers?: Record<string, string> };

/** Whether commands in the sandbox are asked about. */
export type SandboxedCommands = ("ask" | "run");

/** A right that a token gives. */
export type Scope = ("read" | "operate" | "approve" | "admin");

/** A message to send. */
export type SendMessage = { client_msg_id: string; text: string; attachments?: (string)[]; delivery?: (Delivery | null) };

/** A message that was taken. */
export type Sent = { message: InputRecord; duplicate: boolean };

/** A session as it is now. */
export type Session = { id: SessionId; title?: string | null; engine: string; model?: string | null; mode: string; cwd: string; state: SessionState; last_turn?: (LastTurn | null); native_session?: string | null; head: number; parent?: (SessionId | null); limits?: (SessionLimits | null); isolation?: (SessionIsolation | null); options?: (SessionOptions | null); profile?: string | null; sandbox?: string | null; tokens: Tokens; cost_usd: number; pinned: boolean; archived: boolean; pending: number; created_at: string; updated_at: string; url: string };

/** An agent of a session. Programs and permission modes are for whoever owns the machine. */
export type SessionAgent = { description: string; prompt: string; tools?: (string)[] | null; disallowed_tools?: (string)[] | null; model?: string | null; max_turns?: number | null };

/** Something about the session is different now. */
export type SessionChanged = ({ what: "model"; from?: string | null; to: string; reason?: string | null } | { what: "mode"; to: string } | { what: "title"; to: string } | { what: "compacted"; trigger: string; tokens_before?: number | null; tokens_after?: number | null } | { what: "reset"; native_session?: string | null } | { what: "forked"; native_session: string });

/** How much effort the model spends. */
export type SessionEffort = ("low" | "medium" | "high" | "xhigh" | "max");

/** A session, over all its runs: a UUID. */
export type SessionId = string;

/** How a session is kept apart from the machine. */
export type SessionIsolation = ({ type: "none" } | { type: "home" } | { type: "sandbox"; network?: SessionNetwork; commands?: SandboxedCommands });

/** What each run of a session may take. */
export type SessionLimits = { deadline_seconds?: number | null; silence_seconds?: number | null; turns?: number | null; usd?: number | null; input_tokens?: number | null; output_tokens?: number | null; total_tokens?: number | null };

/** Some sessions. */
export type SessionList = { sessions: (Session)[]; next?: string | null };

/** What the tools of a sandboxed session may reach. */
export type SessionNetwork = { domains?: (string)[] };

/** How the runs of a session are started. What is missing is left to the server and its engine. */
export type SessionOptions = { system_prompt?: string | null; append_system_prompt?: string | null; plan_mode_instructions?: string | null; fallback_models?: (string)[]; effort?: (SessionEffort | null); thinking?: (SessionThinking | null); task_budget?: number | null; betas?: (string)[]; tools?: (string)[] | null; deny?: (string)[]; skills?: (string)[]; agent?: string | null; agents?: Record<string, SessionAgent>; output_schema?: Record<string, unknown> | null; verbatim_prompts?: boolean };

/** The activity of a session. */
export type SessionState = ("idle" | "running" | "ready" | "waiting" | "interrupted" | "closed");

/** How the model thinks before it answers. */
export type SessionThinking = ({ type: "adaptive" } | { type: "disabled" } | { type: "budget"; tokens: number });

/** The form in which a person saw a request before answering it. */
export type Shown = ("full" | "viewed" | "skipped" | "part" | "page" | "api");

/** The party that made something happen. */
export type Source = ("agent" | "user" | "falconer");

/** A file that can go with a message. */
export type StoredFile = { id: string; name: string; media_type: string; bytes: number };

/** Rules that would allow a call; a compound command may need one for each part. */
export type Suggested = { width: string; rules: (string)[] };

/** What became of the wish to take a message back. */
export type TakenBack = { cancelled: boolean };

/** A shell or a sub-agent. */
export type Task = { id: string; kind?: string | null; description?: string | null; tool_use_id?: string | null; in_background: boolean; summary?: string | null; end?: (TaskEnd | null) };

/** The end of a task. */
export type TaskEnd = ("completed" | "failed" | "stopped" | "aborted");

/** A token to make. */
export type TokenAsked = { name: string; scopes: (Scope)[] };

/** A token, not its secret. */
export type TokenId = string;

/** All tokens, without their secrets. */
export type TokenList = { tokens: (TokenRecord)[] };

export type TokenRecord = { id: TokenId; name: string; scopes: (Scope)[]; created_at: string; last_used?: string | null; revoked_at?: string | null };

/** Tokens, those of the cache included. */
export type Tokens = { input: number; output: number; cache_read: number; cache_write: number };

/** Something of a project that needs trust, exactly as it would be used. */
export type TrustItem = { wish: string; file: string; key: string; text: string; scripts: (TrustScript)[]; is_new: boolean };

/** What a project wants, and whether somebody trusts it. */
export type TrustReport = ProjectTrust;

/** A file of the project that an item names. */
export type TrustScript = { path: string; digest: string; text?: string | null };

/** What is said about the content of a project. */
export type TrustVerdict = ("grant" | "revoke");

/** A turn is over. */
export type TurnCompleted = { ok: boolean; text: string; structured_output?: unknown; failure?: (Failure | null); tokens: Tokens; models?: Record<string, unknown>; total_cost_usd: number; model_turns: number; duration_ms: number; api_duration_ms: number; denials?: (Denial)[]; stop_reason?: string | null; terminal_reason?: string | null; prompts?: (string)[]; origin?: string | null };

/** The number of a turn in its run, counted from 1. */
export type TurnNumber = number;

/** The outcome of a turn. */
export type TurnOutcome = ("done" | "stopped" | "failed" | "interrupted");

/** A turn begins. */
export type TurnStarted = { prompts?: (string)[]; model?: string | null };

/** A message of the engine that has no event of its own. */
export type Unknown = { kind: string; message: unknown };

/** What is answered to a permission or a question. */
export type Verdict = ({ type: "allow" } | { type: "allow_edited"; input: unknown } | { type: "allow_always"; rule: NewRule } | { type: "deny"; message: string } | { type: "deny_and_stop"; message: string } | { type: "choices"; answers: Record<string, (string)[]> } | { type: "approve_plan"; mode?: string | null } | { type: "form"; fields: Record<string, unknown> });

/** Something is not as it should be. */
export type Warning = { kind: string; text: string };

/** What a rule would have done with the last requests. */
export type WouldHave = { allows_this: boolean; allowed: number; of: number };


/** A refusal of the server, with its own words. */
export class FalconerError extends Error {
  status: number;
  problem: Problem;
  constructor(status: number, problem: Problem) {
    super(problem.detail ?? problem.title ?? `the server answered ${status}`);
    this.status = status;
    this.problem = problem;
  }
}

/** A frame of a stream. `id` is the number of an event. */
export type Frame = { event: string; id?: number; data: any };

export class Falconer {
  url: string;
  token: string;

  /** `url` as the server printed it; the token is sent as a header and never in a URL. */
  constructor(url: string, token: string) {
    this.url = url.replace(/\/$/, "");
    this.token = token;
  }

  /** Follows a session from after an event, and comes back by itself until `signal` says stop. */
  async *follow(id: string, after: number = 0, signal?: AbortSignal): AsyncGenerator<Frame> {
    for (let failures = 0; !signal?.aborted; failures++) {
      try {
        const path = `/v1/sessions/${encodeURIComponent(id)}/stream?after=${after}`;
        for await (const frame of this.stream(path, signal)) {
          failures = 0;
          if (frame.id !== undefined) after = frame.id;
          yield frame;
          if (frame.event === "gone") return;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (error instanceof FalconerError && error.status < 500) throw error;
      }
      await new Promise((done) => setTimeout(done, Math.min(250 * 2 ** failures, 10_000)));
    }
  }

  /** The frames of one stream, until it ends. */
  async *stream(path: string, signal?: AbortSignal): AsyncGenerator<Frame> {
    const response = await fetch(this.url + path, { headers: this.headers(), signal });
    if (!response.ok || !response.body) throw await this.refusal(response);
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body  as any) {
      rest += decoder.decode(chunk, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const frame = this.frame(block);
        if (frame) yield frame;
      }
    }
  }

  frame(block: string): Frame | undefined {
    const fields: Record<string, string> = {};
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
    }
    if (!fields.event) return undefined;
    const frame: Frame = { event: fields.event, data: JSON.parse(fields.data ?? "null") };
    if (fields.id !== undefined) frame.id = Number(fields.id);
    return frame;
  }

  headers(): Record<string, string> {
    return { Authorization: `Bearer ${this.token}`, Accept: "application/json" };
  }

  async refusal(response: Response): Promise<FalconerError> {
    const text = await response.text();
    try {
      return new FalconerError(response.status, JSON.parse(text));
    } catch {
      return new FalconerError(response.status, { detail: text }  as Problem);
    }
  }

  async call(method: string, path: string, query: Record<string, unknown>, body: unknown, reads: string): Promise<any> {
    const url = new URL(this.url + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers = this.headers();
    const init: RequestInit = { method, headers };
    const file = body  as { name?: string; bytes?: BodyInit } | undefined;
    if (file?.bytes !== undefined && file.name !== undefined) {
      headers["X-Falconer-Name"] = encodeURIComponent(file.name);
      headers["Content-Type"] = "application/octet-stream";
      init.body = file.bytes;
    } else if (method === "POST" || method === "PATCH") {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(body ?? {});
    }
    const response = await fetch(url, init);
    if (!response.ok) throw await this.refusal(response);
    if (reads === "json") return response.json();
    if (reads === "text") return response.text();
    if (reads === "bytes") return response.arrayBuffer();
    await response.arrayBuffer();
  }

  /** Whether the process answers. */
  async health(): Promise<Health> {
    return this.call("GET", `/health`, {}, undefined, "json");
  }

  /** Counters for Prometheus. */
  async metrics(): Promise<string> {
    return this.call("GET", `/metrics`, {}, undefined, "text");
  }

  /** This description. */
  async openapi(): Promise<Record<string, unknown>> {
    return this.call("GET", `/openapi.json`, {}, undefined, "json");
  }

  /** Whether it can do its work: shown by reading and writing the store. */
  async ready(): Promise<Health> {
    return this.call("GET", `/ready`, {}, undefined, "json");
  }

  /** Store a file, to send it with a message. */
  async storeAttachment(name: string, body: BodyInit): Promise<StoredFile> {
    return this.call("POST", `/v1/attachments`, {}, { name, bytes: body }, "json");
  }

  /** A stored file; pictures can be shown, everything else is saved. */
  async getAttachment(id: string): Promise<ArrayBuffer> {
    return this.call("GET", `/v1/attachments/${encodeURIComponent(id)}`, {}, undefined, "bytes");
  }

  /** Who did what. */
  async readAudit(query: { after?: number, limit?: number } = {}): Promise<AuditLog> {
    return this.call("GET", `/v1/audit`, query, undefined, "json");
  }

  /** Make a link with which another browser comes in, once. */
  async makeCode(body: CodeAsked): Promise<Code> {
    return this.call("POST", `/v1/codes`, {}, body, "json");
  }

  /** The engines and whether they could be started now. */
  async listEngines(): Promise<EngineList> {
    return this.call("GET", `/v1/engines`, {}, undefined, "json");
  }

  /** The folders in a folder, below the configured roots. */
  async listFolders(query: { path?: string } = {}): Promise<FolderList> {
    return this.call("GET", `/v1/folders`, query, undefined, "json");
  }

  /** Trade a one-time code for the page's cookie. */
  async login(body: Login): Promise<void> {
    return this.call("POST", `/v1/login`, {}, body, "nothing");
  }

  /** Forget the cookie; its token is of no use any more. */
  async logout(): Promise<void> {
    return this.call("POST", `/v1/logout`, {}, undefined, "nothing");
  }

  /** Who you are here, and what you may do. */
  async me(): Promise<Me> {
    return this.call("GET", `/v1/me`, {}, undefined, "json");
  }

  /** The models of an engine: those it named when it was last started, else those known of it. */
  async listModels(query: { engine?: string } = {}): Promise<ModelList> {
    return this.call("GET", `/v1/models`, query, undefined, "json");
  }

  /** Markdown of an agent as HTML that is safe to show. */
  async renderTexts(body: Render): Promise<Rendered> {
    return this.call("POST", `/v1/render`, {}, body, "json");
  }

  /** What agents wait for, in all sessions. */
  async listRequests(query: { state?: string, session?: string } = {}): Promise<RequestList> {
    return this.call("GET", `/v1/requests`, query, undefined, "json");
  }

  /** One request. */
  async getRequest(id: string): Promise<Request> {
    return this.call("GET", `/v1/requests/${encodeURIComponent(id)}`, {}, undefined, "json");
  }

  /** Answer exactly what was shown; the first answer counts. */
  async answerRequest(id: string, body: AnswerRequest): Promise<Answered> {
    return this.call("POST", `/v1/requests/${encodeURIComponent(id)}/answer`, {}, body, "json");
  }

  /** The rules, with who made them and how often they answered. */
  async listRules(): Promise<RuleList> {
    return this.call("GET", `/v1/rules`, {}, undefined, "json");
  }

  /** Make a rule. */
  async addRule(body: RuleAsked): Promise<Rule> {
    return this.call("POST", `/v1/rules`, {}, body, "json");
  }

  /** What the rules say about a call, why, and what a new rule would have allowed. */
  async explainRule(body: ExplainRule): Promise<Explanation> {
    return this.call("POST", `/v1/rules/explain`, {}, body, "json");
  }

  /** Remove a rule; from now on it answers nothing. */
  async removeRule(id: string): Promise<void> {
    return this.call("DELETE", `/v1/rules/${encodeURIComponent(id)}`, {}, undefined, "nothing");
  }

  /** Change a rule. */
  async changeRule(id: string, body: ChangeRule): Promise<Rule> {
    return this.call("PATCH", `/v1/rules/${encodeURIComponent(id)}`, {}, body, "json");
  }

  /** The sessions, the one that changed last first. */
  async listSessions(query: { state?: string, q?: string, archived?: string, limit?: number, cursor?: string } = {}): Promise<SessionList> {
    return this.call("GET", `/v1/sessions`, query, undefined, "json");
  }

  /** Make a session, with a first message if there is one. */
  async createSession(body: CreateSession): Promise<Session> {
    return this.call("POST", `/v1/sessions`, {}, body, "json");
  }

  /** One session. */
  async getSession(id: string): Promise<Session> {
    return this.call("GET", `/v1/sessions/${encodeURIComponent(id)}`, {}, undefined, "json");
  }

  /** End a session and forget everything about it but the audit. */
  async deleteSession(id: string): Promise<void> {
    return this.call("DELETE", `/v1/sessions/${encodeURIComponent(id)}`, {}, undefined, "nothing");
  }

  /** Change title, model, mode, or where it is shown. */
  async changeSession(id: string, body: ChangeSession): Promise<Session> {
    return this.call("PATCH", `/v1/sessions/${encodeURIComponent(id)}`, {}, body, "json");
  }

  /** End the agent; the session takes no messages until it is resumed. */
  async closeSession(id: string): Promise<Session> {
    return this.call("POST", `/v1/sessions/${encodeURIComponent(id)}/close`, {}, undefined, "json");
  }

  /** The commands and models of a session's engine; empty unless it runs. */
  async listCommands(id: string): Promise<Commands> {
    return this.call("GET", `/v1/sessions/${encodeURIComponent(id)}/commands`, {}, undefined, "json");
  }

  /** What happened in a session, in order. */
  async listEvents(id: string, query: { after?: number, limit?: number, types?: string } = {}): Promise<EventList> {
    return this.call("GET", `/v1/sessions/${encodeURIComponent(id)}/events`, query, undefined, "json");
  }

  /** The whole session as a file. */
  async exportSession(id: string, query: { format?: string } = {}): Promise<string> {
    return this.call("GET", `/v1/sessions/${encodeURIComponent(id)}/export`, query, undefined, "text");
  }

  /** Make a session that goes on from here on its own. */
  async forkSession(id: string, body: ForkSession): Promise<Session> {
    return this.call("POST", `/v1/sessions/${encodeURIComponent(id)}/fork`, {}, body, "json");
  }

  /** End the turn under way; what is queued runs next. */
  async interruptSession(id: string): Promise<void> {
    return this.call("POST", `/v1/sessions/${encodeURIComponent(id)}/interrupt`, {}, undefined, "nothing");
  }

  /** What was said to the agent, and how far it came. */
  async listMessages(id: string): Promise<MessageList> {
    return this.call("GET", `/v1/sessions/${encodeURIComponent(id)}/messages`, {}, undefined, "json");
  }

  /** Say something to the agent; the same `client_msg_id` counts once. */
  async sendMessage(id: string, body: SendMessage): Promise<Sent> {
    return this.call("POST", `/v1/sessions/${encodeURIComponent(id)}/messages`, {}, body, "json");
  }

  /** Take back a message the agent has not been given yet. */
  async cancelMessage(id: string, message: string): Promise<TakenBack> {
    return this.call("DELETE", `/v1/sessions/${encodeURIComponent(id)}/messages/${encodeURIComponent(message)}`, {}, undefined, "json");
  }

  /** Start the agent again, with its own conversation; what is queued goes on. */
  async resumeSession(id: string): Promise<Session> {
    return this.call("POST", `/v1/sessions/${encodeURIComponent(id)}/resume`, {}, undefined, "json");
  }

  /** Stop one background task; the rest goes on. */
  async stopTask(id: string, task: string): Promise<void> {
    return this.call("POST", `/v1/sessions/${encodeURIComponent(id)}/tasks/${encodeURIComponent(task)}/stop`, {}, undefined, "nothing");
  }

  /** The tokens, without their secrets. */
  async listTokens(): Promise<TokenList> {
    return this.call("GET", `/v1/tokens`, {}, undefined, "json");
  }

  /** Make a token; its secret is shown this once. */
  async makeToken(body: TokenAsked): Promise<MadeToken> {
    return this.call("POST", `/v1/tokens`, {}, body, "json");
  }

  /** Revoke a token; what is open with it ends. */
  async revokeToken(id: string): Promise<void> {
    return this.call("DELETE", `/v1/tokens/${encodeURIComponent(id)}`, {}, undefined, "nothing");
  }

  /** What a project wants beyond narrowing, and whether it is trusted. */
  async showTrust(query: { cwd?: string } = {}): Promise<TrustReport> {
    return this.call("GET", `/v1/trust`, query, undefined, "json");
  }

  /** Trust the content of a project that was shown, or take the trust back. */
  async decideTrust(body: DecideTrust): Promise<TrustReport> {
    return this.call("POST", `/v1/trust`, {}, body, "json");
  }
}

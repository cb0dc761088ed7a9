// The shapes the server sends, as JSDoc types. Nothing here runs.

/**
 * @typedef {object} FalconerEvent One thing that happened, as it is stored.
 * @property {number} seq
 * @property {string} time
 * @property {string} session
 * @property {string} run
 * @property {number} [turn]
 * @property {"agent" | "user" | "falconer"} source
 * @property {string} [parent]
 * @property {string} type
 * @property {any} data
 */

/**
 * @typedef {object} Preview The beginning of a long text.
 * @property {string} text
 * @property {number} length
 * @property {string} first_line
 * @property {boolean} truncated
 */

/**
 * @typedef {object} Action A tool call.
 * @property {string} kind
 * @property {string} title
 * @property {string} tool
 * @property {any} input
 * @property {"running" | "ok" | "failed" | "denied" | "aborted"} status
 * @property {string} [agent]
 * @property {Preview} [result]
 * @property {Picture[]} [images]
 * @property {{path: string, hunks: string}} [diff]
 */

/**
 * @typedef {object} Picture An image a tool returned; without an id nobody keeps it.
 * @property {string} media_type
 * @property {number} bytes
 * @property {string} [id]
 */

/**
 * @typedef {object} Attachment
 * @property {string} [id]
 * @property {string} name
 * @property {string} media_type
 * @property {number} bytes
 */

/**
 * @typedef {object} Tokens
 * @property {number} input
 * @property {number} output
 * @property {number} cache_read
 * @property {number} cache_write
 */

/**
 * @typedef {object} Task A shell or a sub-agent.
 * @property {string} id
 * @property {string} [kind]
 * @property {string} [description]
 * @property {string} [tool_use_id]
 * @property {boolean} in_background
 * @property {string} [summary]
 * @property {string} [end]
 */

/**
 * @typedef {object} LastTurn How the last turn ended, and with which event.
 * @property {number} seq
 * @property {"done" | "stopped" | "failed" | "interrupted"} outcome
 * @property {{class: string, text: string, hint?: string}} [failure]
 */

/**
 * @typedef {object} Session
 * @property {string} id
 * @property {string} [title]
 * @property {string} engine
 * @property {string} [model]
 * @property {string} mode
 * @property {string} cwd
 * @property {"idle" | "running" | "ready" | "waiting" | "interrupted" | "closed"} state
 * @property {LastTurn} [last_turn]
 * @property {number} head
 * @property {string} [parent]
 * @property {any} [tokens]
 * @property {number} [cost_usd]
 * @property {boolean} [pinned]
 * @property {boolean} [archived]
 * @property {number} [pending]
 * @property {string} created_at
 * @property {string} updated_at
 */

/**
 * @typedef {object} Decision
 * @property {any} [verdict]
 * @property {string} by
 * @property {string} at
 * @property {any} [edited]
 * @property {any} [rule]
 * @property {string} [message]
 */

/**
 * @typedef {object} Request Something the agent waits for.
 * @property {string} id
 * @property {string} session
 * @property {"permission" | "choice" | "plan" | "elicitation"} kind
 * @property {string} [tool]
 * @property {any} input
 * @property {string} digest
 * @property {string} [reason]
 * @property {any[]} [suggestions]
 * @property {string} [agent]
 * @property {string} [title]
 * @property {string} [description]
 * @property {string} [blocked_path]
 * @property {string} [cwd]
 * @property {string} [tool_use_id]
 * @property {string} [expires_at]
 * @property {string} requested_at
 * @property {"pending" | "answered" | "delivered" | "expired" | "withdrawn"} state
 * @property {Decision} [decision]
 */

/**
 * @typedef {object} Message A message somebody sent.
 * @property {string} id
 * @property {string} [client_msg_id]
 * @property {string} text
 * @property {Attachment[]} [attachments]
 * @property {string} delivery
 * @property {string} state
 * @property {string} [by]
 */

/**
 * @typedef {object} Rule
 * @property {string} id
 * @property {string} text
 * @property {"allow" | "deny" | "ask"} effect
 * @property {{type: "session", id: string} | {type: "project", path: string} | {type: "user"}} scope
 * @property {string} [created_by]
 * @property {string} [created_at]
 * @property {number} [used]
 * @property {string} [last_used]
 */

/**
 * @typedef {object} Me
 * @property {string} name
 * @property {string[]} scopes
 * @property {boolean} [bypass_allowed]
 * @property {string[]} [roots]
 * @property {string} [version]
 */

/**
 * @typedef {object} Problem
 * @property {string} [title]
 * @property {string} [detail]
 * @property {string} [code]
 * @property {string} [hint]
 * @property {number} [status]
 * @property {Request} [request]
 */

/**
 * @typedef {object} Stream Text of an item while it is written.
 * @property {number} from Characters that were written before this page listened.
 * @property {number} length Characters of `text`.
 * @property {string} text
 */

/**
 * @typedef {object} RequestView A request as the log tells it.
 * @property {string} id
 * @property {"permission" | "choice" | "plan" | "elicitation"} kind
 * @property {string} [tool]
 * @property {any} input
 * @property {string} digest
 * @property {string} time
 * @property {string} [reason]
 * @property {string} [agent]
 * @property {string} [title]
 * @property {string} [description]
 * @property {string} [blocked_path]
 * @property {string} [cwd]
 * @property {string} [expires_at]
 * @property {any[]} [suggestions]
 * @property {string} [tool_use_id]
 * @property {string | null} parent The tool call whose sub-agent asks.
 * @property {boolean} [over] The run that asked has ended.
 * @property {{resolution: string, by: string, time: string, message?: string, edited?: any, rule?: any, answers?: any} | null} resolved
 */

/**
 * @typedef {"prompt" | "message" | "thought" | "injected" | "summary" | "action" | "request" | "turn" | "run" | "notice" | "unknown"} RowKind
 */

/**
 * @typedef {object} Row One line of the timeline.
 * @property {string} key Stays the same for the life of the row.
 * @property {RowKind} kind
 * @property {number} seq The event that made it.
 * @property {number[]} seqs All events it was made of.
 * @property {string} time
 * @property {string} [ended]
 * @property {number | null} turn
 * @property {string} run
 * @property {string | null} parent
 * @property {number} version Grows with every change.
 * @property {boolean} open Not finished yet.
 * @property {boolean} [cut] The run ended before it was finished.
 * @property {any} content
 * @property {Stream | null} stream
 * @property {Row[]} children
 * @property {string[]} requests
 */

/**
 * @typedef {object} TrustItem
 * @property {string} wish
 * @property {string} file
 * @property {string} key
 * @property {string} text
 * @property {{path: string, digest: string, text?: string | null}[]} scripts
 * @property {boolean} is_new
 */

/**
 * What a project wants beyond narrowing, and whether it is trusted.
 * @typedef {object} ProjectTrust
 * @property {string} project
 * @property {string} standing
 * @property {string} digest
 * @property {TrustItem[]} items
 * @property {string[]} gone
 * @property {string[]} ignored
 */

export {};

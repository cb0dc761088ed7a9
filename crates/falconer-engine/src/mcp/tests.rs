//! MCP servers as the loop sees them: real children, loopback servers, a host, and bad ones.

mod fixture;
mod hostile;
mod in_host;
mod remote;
mod stdio;

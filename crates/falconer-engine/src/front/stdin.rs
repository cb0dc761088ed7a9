//! Standard input, read on a thread: a read of it cannot be called off.

use std::io::{self, Read};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::failure::StartupFailure;
use super::lines::{LONGEST_LINE, LineCutter, LineTooLong};

/// How much is read at once.
const CHUNK: usize = 16 << 10;

/// Chunks that may wait for the one who wants them.
const QUEUE: usize = 4;

/// How long to wait for somebody to begin writing.
const PATIENCE: Duration = Duration::from_secs(3);

/// How reading ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputEnd {
    #[error("end of input")]
    End,
    #[error(transparent)]
    TooLong(LineTooLong),
    #[error("failed to read stdin: {0}")]
    Failed(io::Error),
}

/// Sends the lines of stdin to a session until one of them ends.
pub(crate) fn pump(
    stdin: Box<dyn Read + Send>,
    lines: mpsc::Sender<Bytes>,
) -> io::Result<oneshot::Receiver<InputEnd>> {
    let (ended, end) = oneshot::channel();
    let thread = std::thread::Builder::new().name("stdin".to_owned());
    thread.spawn(move || {
        // Nobody may be interested any more.
        let _ = ended.send(read_lines(stdin, &lines));
    })?;
    Ok(end)
}

fn read_lines(mut stdin: Box<dyn Read + Send>, lines: &mpsc::Sender<Bytes>) -> InputEnd {
    let mut cutter = LineCutter::new(LONGEST_LINE);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match stdin.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return InputEnd::Failed(error),
        };
        // A session that is gone takes no lines; the next read will be the last.
        let send = |line| drop(lines.blocking_send(line));
        if let Err(too_long) = cutter.push(&chunk[..read], send) {
            return InputEnd::TooLong(too_long);
        }
        if lines.is_closed() {
            return InputEnd::End;
        }
    }
    if let Some(line) = cutter.finish() {
        let _ = lines.blocking_send(line);
    }
    InputEnd::End
}

/// What was piped into a one-shot run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piped {
    Text(String),
    /// Nobody began to write.
    Silence,
}

/// Reads all of stdin, if somebody begins to write soon.
pub(crate) async fn piped(stdin: Box<dyn Read + Send>) -> Result<Piped, StartupFailure> {
    let failed = |error| StartupFailure::error(format!("failed to read stdin: {error}"));
    let mut chunks = chunks(stdin).map_err(failed)?;
    let mut text = Vec::new();
    let Ok(first) = tokio::time::timeout(PATIENCE, chunks.recv()).await else {
        return Ok(Piped::Silence);
    };
    let mut next = first;
    while let Some(chunk) = next {
        text.extend_from_slice(&chunk.map_err(failed)?);
        if text.len() > LONGEST_LINE {
            return Err(StartupFailure::error("stdin holds more than 256 MiB"));
        }
        next = chunks.recv().await;
    }
    Ok(Piped::Text(String::from_utf8_lossy(&text).into_owned()))
}

fn chunks(mut stdin: Box<dyn Read + Send>) -> io::Result<mpsc::Receiver<io::Result<Bytes>>> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let thread = std::thread::Builder::new().name("stdin".to_owned());
    thread.spawn(move || {
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = match stdin.read(&mut chunk) {
                Ok(0) => return,
                Ok(read) => Ok(Bytes::copy_from_slice(&chunk[..read])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let failed = read.is_err();
            if sender.blocking_send(read).is_err() || failed {
                return;
            }
        }
    })?;
    Ok(receiver)
}

/// The prompt of a one-shot run: the argument, then what was piped in.
pub(crate) fn prompt(argument: Option<&str>, piped: &str) -> Result<String, StartupFailure> {
    let parts = [argument.unwrap_or_default(), piped];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let prompt = parts.join("\n");
    let problem = if prompt.is_empty() {
        "Input must be provided either through stdin or as a prompt argument when using --print"
    } else if prompt.trim().is_empty() {
        "Input contained only whitespace. Provide a prompt with text through stdin or as a \
         prompt argument when using --print"
    } else {
        return Ok(prompt);
    };
    Err(StartupFailure::error(problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_is_the_argument_and_then_what_was_piped() {
        assert_eq!(prompt(Some("do"), "this\n").unwrap(), "do\nthis\n");
        assert_eq!(prompt(Some("do"), "").unwrap(), "do");
        assert_eq!(prompt(None, "this\n").unwrap(), "this\n");
        let failure = |argument, piped| prompt(argument, piped).unwrap_err().stderr;
        assert!(failure(None, "").starts_with("Error: Input must be provided"));
        assert!(failure(Some(""), "").starts_with("Error: Input must be provided"));
        assert!(failure(None, " \n").starts_with("Error: Input contained only whitespace"));
    }

    #[tokio::test]
    async fn lines_arrive_and_then_the_end() {
        let (lines, mut received) = mpsc::channel(1);
        let end = pump(Box::new(&b"one\ntwo\n\nthree"[..]), lines).unwrap();
        let mut seen = Vec::new();
        while let Some(line) = received.recv().await {
            seen.push(line);
        }
        assert_eq!(seen, ["one\n", "two\n", "\n", "three\n"]);
        assert!(matches!(end.await, Ok(InputEnd::End)));
    }

    #[tokio::test]
    async fn piped_text_is_read_to_its_end_and_silence_is_noticed() {
        let text = piped(Box::new(&b"hello\n"[..])).await.unwrap();
        assert_eq!(text, Piped::Text("hello\n".to_owned()));
        assert_eq!(
            piped(Box::new(io::empty())).await.unwrap(),
            Piped::Text(String::new())
        );
    }
}

//! Sessions as documents. What a session holds is not trusted: no text of it becomes markup.

use super::conversation::Part;

pub(super) fn markdown(title: &str, parts: &[Part]) -> String {
    let mut text = format!("# {}\n", one_line(title));
    for part in parts {
        text += &match part {
            Part::User(said) => format!("\n## You\n\n{}\n", said.trim()),
            Part::Agent(said) => format!("\n{}\n", said.trim()),
            Part::Call { tool, input } => {
                format!("\n**{}**\n\n{}", one_line(tool), fenced(input))
            }
            Part::Result {
                text,
                failed: false,
            } => format!("\n{}", fenced(text)),
            Part::Result { text, failed: true } => format!("\nfailed:\n\n{}", fenced(text)),
        };
    }
    text
}

/// A block of code whose fence is longer than any in it.
fn fenced(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", text.trim_end())
}

pub(super) fn html(title: &str, parts: &[Part]) -> String {
    let title = escaped(&one_line(title));
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n<h1>{title}</h1>\n"
    );
    for part in parts {
        text += &match part {
            Part::User(said) => format!(
                "<section class=\"you\"><p>{}</p></section>\n",
                escaped(said)
            ),
            Part::Agent(said) => {
                format!(
                    "<section class=\"agent\"><p>{}</p></section>\n",
                    escaped(said)
                )
            }
            Part::Call { tool, input } => {
                format!(
                    "<h2>{}</h2>\n<pre>{}</pre>\n",
                    escaped(tool),
                    escaped(input)
                )
            }
            Part::Result { text, failed } => {
                let class = if *failed { "failed" } else { "result" };
                let length = text.lines().count();
                format!(
                    "<details class=\"{class}\"><summary>{length} lines</summary>\
                     <pre>{}</pre></details>\n",
                    escaped(text)
                )
            }
        };
    }
    text + "</html>\n"
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;\
padding:0 1rem}p{white-space:pre-wrap}pre{background:#f4f4f4;padding:.6rem;overflow-x:auto}\
h2{font-size:1rem;margin-bottom:.2rem}.you{border-left:.3rem solid #4a7;padding-left:1rem}\
.failed summary{color:#b00}@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}\
pre{background:#222}}";

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            other => safe.push(other),
        }
    }
    safe
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Vec<Part> {
        vec![
            Part::User("<script>alert(1)</script>".to_owned()),
            Part::Agent("**done**".to_owned()),
            Part::Call {
                tool: "Bash".to_owned(),
                input: "echo '```'".to_owned(),
            },
            Part::Result {
                text: "a\n```\n</pre><b>".to_owned(),
                failed: true,
            },
        ]
    }

    #[test]
    fn no_text_of_a_session_becomes_markup() {
        let page = html("</title><script>", &parts());
        assert!(!page.contains("<script"), "{page}");
        assert!(!page.contains("<b>"), "{page}");
        assert_eq!(page.matches("</pre>").count(), 2, "{page}");
    }

    #[test]
    fn fences_hold_whatever_is_in_them() {
        let text = markdown("A\ntitle", &parts());
        assert!(text.starts_with("# A title\n"), "{text}");
        assert!(text.contains("````\necho '```'\n````\n"), "{text}");
        assert!(
            text.contains("\nfailed:\n\n````\na\n```\n</pre><b>\n````\n"),
            "{text}"
        );
    }
}

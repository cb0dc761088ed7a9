//! The reference of the configuration in `docs/`, written from the schema and held to it.

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::{keys, schema};

    const BEGIN: &str = "<!-- keys: written from the schema -->\n";
    const END: &str = "<!-- end of keys -->\n";

    fn docs(name: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs")
            .join(name)
    }

    /// Compares, or writes if `FALCONER_UPDATE` is set.
    fn hold(name: &str, expected: &str) {
        let path = docs(name);
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        if found != expected && std::env::var_os("FALCONER_UPDATE").is_some() {
            std::fs::write(&path, expected).unwrap();
            return;
        }
        assert_eq!(
            found, expected,
            "docs/{name}: run this test with FALCONER_UPDATE=1"
        );
    }

    fn table() -> String {
        let mut text = String::from("| key | value | default | means |\n|---|---|---|---|\n");
        for key in keys::keys() {
            let default = match &key.default {
                None => String::new(),
                Some(serde_json::Value::String(word)) => format!("`{word}`"),
                Some(value) => format!("`{value}`"),
            };
            let (path, kind, about) = (&key.path, key.kind.in_words(), &key.about);
            text += &format!("| `{path}` | {kind} | {default} | {about} |\n");
        }
        text
    }

    #[test]
    fn the_published_schema_is_the_one_in_force() {
        let schema = serde_json::to_string_pretty(&schema::json_schema()).unwrap();
        hold("config.schema.json", &(schema + "\n"));
    }

    #[test]
    fn the_reference_has_every_key() {
        let page = std::fs::read_to_string(docs("configuration.md")).unwrap();
        let (before, rest) = page
            .split_once(BEGIN)
            .expect("the mark where the keys begin");
        let (_, after) = rest.split_once(END).expect("the mark where the keys end");
        hold(
            "configuration.md",
            &format!("{before}{BEGIN}{}{END}{after}", table()),
        );
    }
}

//! The description of the API, made from the routes and the types that answer.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::api;
use crate::auth::access::{Access, access};
use crate::route::table;

const ABOUT: &str = "Agents over HTTP: sessions, streams that resume without a gap, permissions \
    and questions answered from anywhere. Errors are `application/problem+json`.";

/// The OpenAPI 3.1 description of the server's API, as JSON.
///
/// The same text for the same version: it is committed beside the code and compared in a test.
pub fn openapi() -> String {
    let mut text = serde_json::to_string_pretty(&document()).unwrap_or_default();
    text.push('\n');
    text
}

fn document() -> Value {
    let (_, described) = table::described();
    let mut document = serde_json::to_value(described).unwrap_or_default();
    document["openapi"] = json!("3.1.0");
    document["info"] = json!({
        "title": "Falconer",
        "version": env!("CARGO_PKG_VERSION"),
        "description": ABOUT,
        "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
    });
    if let Some(paths) = document["paths"].as_object_mut() {
        for (path, item) in paths.iter_mut() {
            for (method, operation) in item.as_object_mut().into_iter().flatten() {
                complete(operation, &method.to_uppercase(), path);
            }
        }
    }
    document["components"] = json!({
        "schemas": schemas(),
        "securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer", "description": "A token, `flc_...`"},
            "cookie": {"type": "apiKey", "in": "cookie", "name": "falconer"},
        },
    });
    document
}

/// Adds what holds for every operation: how it fails and who may use it.
fn complete(operation: &mut Value, method: &str, path: &str) {
    operation["responses"]["default"] = json!({
        "description": "Why not",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    });
    match access(method, path) {
        Some(Access::Public) | None => operation["security"] = json!([]),
        Some(Access::Known) => operation["security"] = json!([{"bearer": []}, {"cookie": []}]),
        Some(Access::With(scope)) => {
            operation["security"] = json!([{"bearer": []}, {"cookie": []}]);
            operation["x-falconer-scope"] = json!(scope);
        }
    }
}

/// The schemas of everything that is sent and received, the events among them.
fn schemas() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    api::describe(&mut generator);
    generator.subschema_for::<falconer_event::Event>();
    let mut schemas: Vec<(String, Value)> = generator.take_definitions(true).into_iter().collect();
    schemas.sort_by(|one, other| one.0.cmp(&other.0));
    schemas.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::access::TABLE;
    use std::collections::BTreeSet;

    /// Not part of the API.
    const PAGE: [&str; 2] = ["/", "/assets/{*path}"];

    #[test]
    fn routes_description_and_scopes_are_the_same_list() {
        let document = document();
        let mut described = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for method in item.as_object().unwrap().keys() {
                described.insert((method.to_uppercase(), path.clone()));
            }
        }
        let table: BTreeSet<_> = TABLE
            .iter()
            .filter(|row| !PAGE.contains(&row.1))
            .map(|row| (row.0.to_owned(), row.1.to_owned()))
            .collect();
        assert_eq!(described, table);
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let text = document.to_string();
        for part in text.split("\"#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(schemas.contains_key(name), "{name}");
        }
        for name in ["Event", "Session", "Request", "Problem"] {
            assert!(schemas.contains_key(name), "{name}");
        }
    }

    #[test]
    fn each_operation_has_a_name_of_its_own() {
        let document = document();
        let mut names = BTreeSet::new();
        for item in document["paths"].as_object().unwrap().values() {
            for operation in item.as_object().unwrap().values() {
                let name = operation["operationId"].as_str().unwrap().to_owned();
                assert!(names.insert(name.clone()), "{name}");
                assert!(operation["summary"].is_string(), "{name} has no summary");
            }
        }
    }
}

//! How a stronger layer changes a weaker one.

use serde_json::Value;

/// Single values override, lists are joined without doubles, objects are merged.
pub(crate) fn merge(base: &mut Value, stronger: &Value) {
    match (base, stronger) {
        (Value::Object(base), Value::Object(stronger)) => {
            for (key, value) in stronger {
                match base.get_mut(key) {
                    Some(old) => merge(old, value),
                    None => {
                        base.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (Value::Array(base), Value::Array(stronger)) => {
            for value in stronger {
                if !base.contains(value) {
                    base.push(value.clone());
                }
            }
        }
        (base, stronger) => *base = stronger.clone(),
    }
}

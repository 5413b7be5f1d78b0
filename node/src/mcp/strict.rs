//! JSON in which no object says the same name twice: of two values the one that was checked elsewhere may not be the one
//! that counts here.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads one value, and nothing after it.
pub(super) fn read(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice::<Strict>(bytes).map(|strict| strict.0)
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Whole.deserialize(deserializer).map(Self)
    }
}

struct Whole;

impl<'de> DeserializeSeed<'de> for Whole {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Whole {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Whole)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if all.contains_key(&name) {
                return Err(A::Error::custom("an object says one name twice; say it once"));
            }
            let value = fields.next_value_seed(Whole)?;
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_said_once_at_any_depth_and_under_any_spelling() {
        for twice in
            ["{\"a\":1,\"a\":1}", "[{\"b\":{\"a\":1,\"a\":2}}]", "{\"a\":1,\"\\u0061\":2}", "{\"\":1,\"\":2}"]
        {
            assert!(read(twice.as_bytes()).unwrap_err().to_string().contains("twice"), "{twice}");
        }
        assert!(read(b"{\"a\":{\"a\":1},\"A\":[{\"a\":1},{\"a\":1}]}").is_ok());
    }

    proptest! {
        #[test]
        fn anything_else_is_read_as_it_always_was(text in "[\\[\\]{}\",:0-9a-c.eE+\\- ntrufals\\\\]{0,40}") {
            let (strict, loose) = (read(text.as_bytes()), serde_json::from_str::<Value>(&text));
            match (&strict, &loose) {
                (Ok(strict), Ok(loose)) => prop_assert_eq!(strict, loose),
                (Err(strict), Ok(_)) => prop_assert!(strict.to_string().contains("twice")),
                (Ok(_), Err(_)) => prop_assert!(false, "{text}"),
                (Err(_), Err(_)) => {}
            }
        }
    }
}

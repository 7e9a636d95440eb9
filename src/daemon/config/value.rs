//! A value as it was given, before it is known whether it can be taken.

use std::fmt;

use config::{Value, ValueKind};
use toml::de::DeValue;

use super::field::quoted;

/// Longest part of a wrong value that is repeated to the user, characters.
const SHOWN: usize = 60;

/// A value from the file, the environment or a flag.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// A text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction, or one too large for an integer.
    Float(f64),
    /// `true` or `false`.
    Switch(bool),
    /// A list.
    List(Vec<Given>),
    /// Something no key takes; its name.
    Other(&'static str),
}

impl Given {
    /// From the file.
    #[must_use]
    pub fn from_toml(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.to_string()),
            DeValue::Integer(integer) => {
                let digits = integer.as_str();
                match i64::from_str_radix(digits, integer.radix()) {
                    Ok(integer) => Self::Integer(integer),
                    Err(_) => Self::Float(digits.parse().unwrap_or(f64::INFINITY)),
                }
            }
            DeValue::Float(float) => Self::Float(float.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(switch) => Self::Switch(*switch),
            DeValue::Array(list) => {
                let each = list.iter().map(|each| Self::from_toml(each.get_ref()));
                Self::List(each.collect())
            }
            DeValue::Datetime(_) => Self::Other("a date"),
            DeValue::Table(_) => Self::Other("a table"),
        }
    }

    /// From a text that has no types: what it can be taken for.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        if let Ok(integer) = text.parse() {
            Self::Integer(integer)
        } else if let Ok(float) = text.parse() {
            Self::Float(float)
        } else if let Ok(switch) = text.parse() {
            Self::Switch(switch)
        } else {
            Self::Text(text.to_owned())
        }
    }

    /// For the layering.
    #[must_use]
    pub fn to_layer(&self, origin: &str) -> Value {
        let kind = match self {
            Self::Text(text) => ValueKind::String(text.clone()),
            Self::Integer(integer) => ValueKind::I64(*integer),
            Self::Float(float) => ValueKind::Float(*float),
            Self::Switch(switch) => ValueKind::Boolean(*switch),
            Self::List(list) => {
                ValueKind::Array(list.iter().map(|each| each.to_layer(origin)).collect())
            }
            Self::Other(_) => ValueKind::Nil,
        };
        Value::new(Some(&origin.to_owned()), kind)
    }

    /// Back from the layering.
    #[must_use]
    pub fn from_layer(value: &Value) -> Self {
        match &value.kind {
            ValueKind::String(text) => Self::Text(text.clone()),
            ValueKind::I64(integer) => Self::Integer(*integer),
            ValueKind::Float(float) => Self::Float(*float),
            ValueKind::Boolean(switch) => Self::Switch(*switch),
            ValueKind::Array(list) => Self::List(list.iter().map(Self::from_layer).collect()),
            _ => Self::Other("nothing"),
        }
    }

    /// What it is, with its article.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Integer(_) => "a whole number",
            Self::Float(_) => "a number",
            Self::Switch(_) => "a boolean",
            Self::List(_) => "a list",
            Self::Other(name) => name,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(integer) => Some(*integer),
            _ => None,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "integers that are not exact as floats are out of every range"
    )]
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Float(float) => Some(*float),
            _ => None,
        }
    }

    pub(super) fn switch(&self) -> Option<bool> {
        match self {
            Self::Switch(switch) => Some(*switch),
            _ => None,
        }
    }

    pub(super) fn list(&self) -> Option<&[Given]> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => {
                let short: String = text.chars().take(SHOWN).collect();
                let rest = if short.len() < text.len() { "…" } else { "" };
                write!(f, "{}{rest}", quoted(&short))
            }
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Float(float) => write!(f, "{float}"),
            Self::Switch(switch) => write!(f, "{switch}"),
            Self::List(list) if list.is_empty() => write!(f, "an empty list"),
            Self::List(_) => write!(f, "the list"),
            Self::Other(name) => write!(f, "{name}"),
        }
    }
}

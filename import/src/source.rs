//! A source file as a tree that remembers where each value stands and which keys nobody asked for.

use serde_json::{Map, Value};

use crate::{ImportError, Left, LeftKind, Relax};

/// A value and its place.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) place: String,
    pub(crate) value: Value,
}

impl Node {
    pub(crate) fn root(value: Value) -> Self {
        Self {
            place: String::new(),
            value,
        }
    }

    fn wrong(&self, expected: &'static str) -> ImportError {
        let place = if self.place.is_empty() {
            "the file"
        } else {
            &self.place
        };
        ImportError::Type {
            place: place.to_owned(),
            expected,
        }
    }

    pub(crate) fn table(self) -> Result<Table, ImportError> {
        match self.value {
            Value::Object(entries) => Ok(Table {
                place: self.place,
                entries,
            }),
            _ => Err(self.wrong("a table")),
        }
    }

    pub(crate) fn list(self) -> Result<Vec<Node>, ImportError> {
        match self.value {
            Value::Array(items) => Ok(items
                .into_iter()
                .enumerate()
                .map(|(index, value)| Node {
                    place: format!("{}[{index}]", self.place),
                    value,
                })
                .collect()),
            _ => Err(self.wrong("a list")),
        }
    }

    pub(crate) fn text(&self) -> Result<&str, ImportError> {
        self.value.as_str().ok_or_else(|| self.wrong("a text"))
    }

    pub(crate) fn flag(&self) -> Result<bool, ImportError> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    pub(crate) fn number(&self) -> Result<u64, ImportError> {
        self.value.as_u64().ok_or_else(|| self.wrong("a whole number"))
    }

    /// A port, also where a format writes it as text.
    pub(crate) fn port(&self) -> Result<u16, ImportError> {
        let number = match &self.value {
            Value::String(text) => text.parse::<u64>().ok(),
            value => value.as_u64(),
        };
        number
            .and_then(|number| u16::try_from(number).ok())
            .ok_or_else(|| self.wrong("a port"))
    }
}

/// A table whose keys are taken one by one.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) place: String,
    entries: Map<String, Value>,
}

impl Table {
    fn place_of(&self, key: &str) -> String {
        if self.place.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.place)
        }
    }

    /// A key's value, unless it is absent or null.
    pub(crate) fn take(&mut self, key: &str) -> Option<Node> {
        let value = self.entries.remove(key).filter(|value| !value.is_null())?;
        Some(Node {
            place: self.place_of(key),
            value,
        })
    }

    /// A table, empty if the key is absent.
    pub(crate) fn take_table(&mut self, key: &str) -> Result<Table, ImportError> {
        match self.take(key) {
            Some(node) => node.table(),
            None => Ok(Table {
                place: self.place_of(key),
                entries: Map::new(),
            }),
        }
    }

    /// A list, empty if the key is absent.
    pub(crate) fn take_list(&mut self, key: &str) -> Result<Vec<Node>, ImportError> {
        self.take(key).map_or_else(|| Ok(Vec::new()), Node::list)
    }

    pub(crate) fn take_flag(&mut self, key: &str) -> Result<Option<bool>, ImportError> {
        self.take(key).map(|node| node.flag()).transpose()
    }

    pub(crate) fn take_text(&mut self, key: &str) -> Result<Option<String>, ImportError> {
        self.take(key)
            .map(|node| node.text().map(str::to_owned))
            .transpose()
    }

    /// Everything that is left, in the order of keys.
    pub(crate) fn rest(&mut self) -> Vec<(String, Node)> {
        let keys: Vec<String> = self.entries.keys().cloned().collect();
        keys.into_iter()
            .filter_map(|key| {
                let node = self.take(&key)?;
                Some((key, node))
            })
            .collect()
    }
}

/// What an importer notes while it reads.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) left: Vec<Left>,
    unknown: Vec<String>,
}

impl Notes {
    pub(crate) fn narrower(&mut self, place: &str, why: impl Into<String>) {
        self.note(place, LeftKind::Narrower, why.into());
    }

    pub(crate) fn equal(&mut self, place: &str, why: impl Into<String>) {
        self.note(place, LeftKind::Note, why.into());
    }

    pub(crate) fn wider(&mut self, place: &str, why: impl Into<String>) {
        self.note(place, LeftKind::Wider, why.into());
    }

    fn note(&mut self, place: &str, kind: LeftKind, why: String) {
        self.left.push(Left {
            place: place.to_owned(),
            kind,
            why,
        });
    }

    /// Keys that grant or only tune something: left out, and said to be.
    pub(crate) fn leave(&mut self, table: &mut Table, keys: &[&str], why: &str) {
        for key in keys {
            if let Some(node) = table.take(key) {
                self.narrower(&node.place, why);
            }
        }
    }

    /// Keys that restrict nothing and grant nothing.
    pub(crate) fn ignore(&mut self, table: &mut Table, keys: &[&str]) {
        for key in keys {
            table.take(key);
        }
    }

    /// What nobody took is not known, and may restrict.
    pub(crate) fn finish(&mut self, table: &mut Table) {
        let rest = table.rest();
        self.unknown.extend(rest.into_iter().map(|(_, node)| node.place));
    }

    /// # Errors
    /// [`ImportError::Unknown`] unless that is relaxed.
    pub(crate) fn close(mut self, relax: Relax) -> Result<Vec<Left>, ImportError> {
        if !relax.unknown && !self.unknown.is_empty() {
            return Err(ImportError::Unknown { places: self.unknown });
        }
        for place in std::mem::take(&mut self.unknown) {
            self.wider(
                &place,
                "this version does not know the key; if it restricts, the policy is wider",
            );
        }
        Ok(self.left)
    }
}

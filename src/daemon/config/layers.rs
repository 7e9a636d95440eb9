//! Defaults below the file, below the environment, below the flags.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ::config::{ConfigError, Environment, Map, Source, Value};
use rustix::fs::{Mode, OFlags};

use super::Config;
use super::field::Wrong;
use super::problem::{Origin, Problem};
use super::schema::{self, KEYS, Key};
use super::text::{self, Said};
use super::value::Given;

/// The file that is read when none is named.
pub const DEFAULT_PATH: &str = "/etc/railwatch/railwatch.toml";
/// What environment variables begin with. One underscore is what Kubernetes puts into a container
/// for a service of our name; that is none of ours.
const PREFIX: &str = "RAILWATCH";
/// Between prefix, section and key.
const SEPARATOR: &str = "__";
/// A longer file is none of ours, bytes.
const FILE_LIMIT: u64 = 1 << 20;

/// Where the configuration comes from.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// The file that was named; `None` is [`DEFAULT_PATH`], which need not be there.
    pub file: Option<PathBuf>,
    /// The environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Flags that were given.
    pub flags: Vec<FlagValue>,
}

/// A flag that stands for a key.
#[derive(Debug, Clone)]
pub struct FlagValue {
    /// The key's section and name.
    pub key: (&'static str, &'static str),
    /// The flag.
    pub flag: &'static str,
    /// Its value.
    pub value: Given,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// Every value that could be taken; the layer below where one could not.
    pub config: Config,
    /// What is wrong, in the order of the layers.
    pub problems: Vec<Problem>,
    /// The keys that are not at their default, and where their value comes from.
    pub origins: BTreeMap<String, String>,
    /// There is a file and nothing of it could be taken.
    pub file_ignored: bool,
}

/// The configuration cannot be loaded at all.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file that was named cannot be read.
    #[error("cannot read the configuration {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The layers could not be put together.
    #[error("cannot put the layers of the configuration together: {0}")]
    Layers(#[from] ConfigError),
}

/// Loads and checks every layer.
///
/// # Errors
///
/// A file that was named cannot be read. Everything else is a problem of the result.
pub fn load(inputs: &Inputs) -> Result<Loaded, LoadError> {
    let file = file(inputs.file.as_deref())?;
    let mut loaded = Loaded {
        problems: file.problems,
        file_ignored: file.unreadable,
        ..Loaded::default()
    };
    let environment = environment(&inputs.environment, &mut loaded.problems)?;
    let flags = flags(&inputs.flags, &mut loaded.problems);
    let merged = ::config::Config::builder()
        .add_source(Layer::new(&file.values))
        .add_source(Layer::new(&environment))
        .add_source(Layer::new(&flags))
        .build()?
        .collect()?;
    for key in KEYS {
        let Some(value) = value_of(&merged, key) else {
            continue;
        };
        let taken = key
            .field
            .set(&mut loaded.config, &Given::from_layer(&value));
        if taken.is_ok() {
            let origin = value.origin().unwrap_or_default().to_owned();
            loaded.origins.insert(key.dotted(), origin);
        }
    }
    Ok(loaded)
}

/// Values of one layer, each known to be possible.
#[derive(Debug, Clone)]
struct Layer(Map<String, Value>);

impl Layer {
    fn new(values: &[(&'static Key, Given, Origin)]) -> Self {
        let values = values
            .iter()
            .map(|(key, given, origin)| (key.dotted(), given.to_layer(&origin.to_string())));
        Self(values.collect())
    }
}

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, ConfigError> {
        Ok(self.0.clone())
    }
}

fn value_of(merged: &Map<String, Value>, key: &Key) -> Option<Value> {
    let section = merged.get(key.section)?.clone().into_table().ok()?;
    section.get(key.name).cloned()
}

fn file(named: Option<&Path>) -> Result<Said, LoadError> {
    let path = named.unwrap_or(Path::new(DEFAULT_PATH));
    match read(path) {
        Ok(Ok(text)) => Ok(text::read(path, &text)),
        Ok(Err(what)) => Ok(unreadable(path, what)),
        Err(source) if named.is_some() => Err(LoadError::File {
            path: path.to_owned(),
            source,
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Said::default()),
        Err(error) => Ok(unreadable(path, format!("cannot be read: {error}"))),
    }
}

fn unreadable(path: &Path, what: String) -> Said {
    let origin = Origin::File {
        path: path.to_owned(),
        line: 1,
    };
    Said {
        values: Vec::new(),
        problems: vec![Problem {
            origin,
            key: None,
            what,
        }],
        unreadable: true,
    }
}

/// The file's text, or what is wrong with it. A pipe without a writer is not waited for.
fn read(path: &Path) -> io::Result<Result<String, String>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let mut bytes = Vec::new();
    file.take(FILE_LIMIT + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > FILE_LIMIT {
        return Ok(Err(format!("longer than {FILE_LIMIT} bytes")));
    }
    Ok(String::from_utf8(bytes).map_err(|error| format!("not TOML: {error}")))
}

type Values = Vec<(&'static Key, Given, Origin)>;

fn environment(
    variables: &[(OsString, OsString)],
    problems: &mut Vec<Problem>,
) -> Result<Values, LoadError> {
    let mut ours: HashMap<String, String> = HashMap::new();
    let mut wrong = Vec::new();
    for (name, value) in variables {
        let Some(name) = our_name(name) else {
            continue;
        };
        match value.to_str() {
            Some(value) => drop(ours.insert(name.to_owned(), value.to_owned())),
            None => wrong.push(of_variable(name, "not UTF-8".to_owned())),
        }
    }
    let given = Environment::with_prefix(PREFIX)
        .separator(SEPARATOR)
        .source(Some(ours))
        .collect()?;
    let mut values = Vec::new();
    for (path, value) in given {
        let name = format!("{PREFIX}{SEPARATOR}{}", path.replace('.', SEPARATOR)).to_uppercase();
        let text = value.into_string()?;
        match path.split_once('.') {
            Some((section, key)) if schema::is_section(section) => {
                match schema::find(section, key) {
                    Some(key) => {
                        let origin = Origin::Environment(name);
                        take(
                            key,
                            &key.field.read(&text),
                            origin,
                            (&mut values, &mut wrong),
                        );
                    }
                    None => {
                        let what = format!("unknown key, {}", text::inside(section, key));
                        wrong.push(of_variable(&name, what));
                    }
                }
            }
            _ => {
                let what = "unknown section, allowed RAILWATCH__SECTION__KEY as in the file";
                wrong.push(of_variable(&name, what.to_owned()));
            }
        }
    }
    wrong.sort_by_key(ToString::to_string);
    problems.extend(wrong);
    Ok(values)
}

fn our_name(name: &OsStr) -> Option<&str> {
    let name = name.to_str()?;
    let rest = name.strip_prefix(PREFIX)?.strip_prefix(SEPARATOR)?;
    (!rest.is_empty()).then_some(name)
}

fn of_variable(name: &str, what: String) -> Problem {
    Problem {
        origin: Origin::Environment(name.to_owned()),
        key: None,
        what,
    }
}

fn flags(given: &[FlagValue], problems: &mut Vec<Problem>) -> Values {
    let mut values = Vec::new();
    for flag in given {
        let (section, name) = flag.key;
        if let Some(key) = schema::find(section, name) {
            let origin = Origin::Flag(flag.flag);
            take(key, &flag.value, origin, (&mut values, problems));
        }
    }
    values
}

/// Takes a value that has no type of its own, if it is possible.
fn take(
    key: &'static Key,
    given: &Given,
    origin: Origin,
    (values, problems): (&mut Values, &mut Vec<Problem>),
) {
    match key.field.set(&mut Config::default(), given) {
        Ok(()) => values.push((key, given.clone(), origin)),
        Err(wrong) => problems.push(Problem {
            origin,
            key: None,
            what: format!("{}, allowed {}", untyped(wrong, given), key.field.allowed()),
        }),
    }
}

/// A text that has no type of its own cannot be of the wrong one.
fn untyped(wrong: Wrong, given: &Given) -> Wrong {
    match wrong {
        Wrong::Kind(_) => Wrong::Value(given.to_string()),
        Wrong::Value(value) => Wrong::Value(value),
    }
}

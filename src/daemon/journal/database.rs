//! The database: one row a finding as it stands, one a transition.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use tracing::warn;

use crate::core::model::finding::{Finding, State};
use crate::daemon::journal::Restored;
use crate::daemon::journal::writer::Word;

/// Version of the tables, in `PRAGMA user_version`.
const VERSION: i64 = 1;
/// Findings that are over and given back.
const RECENT: i64 = 64;
/// Files that were set aside and are kept.
const ASIDE: usize = 3;
/// How long another process may hold the database.
const BUSY: Duration = Duration::from_secs(5);
/// File systems on other machines, on which a write-ahead log's shared memory does not work
/// (`linux/magic.h` and their own headers): NFS, SMB, CIFS, SMB2, FUSE, 9P, Lustre, GPFS, BeeGFS.
const REMOTE: [i64; 9] = [
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x6573_5546,
    0x0102_1997,
    0x0bd0_0bd0,
    0x4750_4653,
    0x1983_0326,
];
const TABLES: &str = "
    CREATE TABLE finding (
        id INTEGER PRIMARY KEY, code TEXT NOT NULL, subject TEXT NOT NULL, state TEXT NOT NULL,
        severity TEXT NOT NULL, since REAL NOT NULL, until REAL, json TEXT NOT NULL
    ) STRICT;
    CREATE TABLE transition (
        id INTEGER PRIMARY KEY, finding INTEGER NOT NULL, at REAL NOT NULL, what TEXT NOT NULL,
        severity TEXT NOT NULL
    ) STRICT;
    CREATE INDEX transition_of ON transition (finding);
";

/// The database cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum DatabaseError {
    #[error("cannot use {path}: {error}")]
    Sqlite {
        path: PathBuf,
        error: rusqlite::Error,
    },
    #[error("cannot make {path}: {error}")]
    Directory {
        path: PathBuf,
        error: std::io::Error,
    },
}

/// An open database.
#[derive(Debug)]
pub(super) struct Database {
    path: PathBuf,
    connection: Connection,
}

impl Database {
    /// Opens the journal of a directory. One that is damaged or of a newer version is set aside.
    pub(super) fn open(directory: &Path) -> Result<Self, DatabaseError> {
        if !directory.is_dir() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o750)
                .create(directory)
                .map_err(|error| DatabaseError::Directory {
                    path: directory.to_owned(),
                    error,
                })?;
        }
        let path = directory.join("journal.db");
        let failed = |error| DatabaseError::Sqlite {
            path: path.clone(),
            error,
        };
        let connection = match connect(&path) {
            Ok(connection) => connection,
            Err(error) if is_damaged(&error) => {
                set_aside(&path, &error.to_string());
                connect(&path).map_err(failed)?
            }
            Err(error) => return Err(failed(error)),
        };
        Ok(Self { path, connection })
    }

    /// What was kept.
    pub(super) fn restored(&self) -> Result<Restored, DatabaseError> {
        let read = || -> rusqlite::Result<Restored> {
            let mut open = self
                .connection
                .prepare("SELECT json FROM finding WHERE state <> 'cleared' ORDER BY id")?;
            let mut over = self.connection.prepare(
                "SELECT json FROM finding WHERE state = 'cleared' ORDER BY until DESC LIMIT ?1",
            )?;
            let newest: Option<i64> = self
                .connection
                .query_row("SELECT max(id) FROM finding", [], |row| row.get(0))
                .optional()?
                .flatten();
            let text = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
            Ok(Restored {
                open: findings(open.query_map([], text)?)?,
                recent: findings(over.query_map([RECENT], text)?)?,
                newest_id: newest.and_then(|id| u64::try_from(id).ok()).unwrap_or(0),
            })
        };
        read().map_err(|error| self.failed(error))
    }

    /// Writes words in one transaction: all of them or none.
    pub(super) fn write(&mut self, words: &VecDeque<Word>) -> Result<(), DatabaseError> {
        let written = write(&mut self.connection, words);
        written.map_err(|error| self.failed(error))
    }

    /// Drops findings that were over before a time, then the oldest while the file is too large.
    pub(super) fn tidy(&mut self, before: f64, max_bytes: u64) -> Result<(), DatabaseError> {
        let tidied = tidy(&mut self.connection, before, max_bytes);
        tidied.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: rusqlite::Error) -> DatabaseError {
        DatabaseError::Sqlite {
            path: self.path.clone(),
            error,
        }
    }
}

/// Findings from their texts. One nobody understands any more is no reason to forget the others; a
/// row that cannot be read is.
fn findings(
    texts: impl Iterator<Item = rusqlite::Result<String>>,
) -> rusqlite::Result<Vec<Finding>> {
    let texts: Vec<String> = texts.collect::<rusqlite::Result<_>>()?;
    let read = |text: &String| serde_json::from_str(text).ok();
    Ok(texts.iter().filter_map(read).collect())
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    let mode = if is_remote(path) { "DELETE" } else { "WAL" };
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(()))?;
    // Each commit is on the disk before it counts.
    connection.pragma_update(None, "synchronous", "FULL")?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version > VERSION {
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB),
            Some(format!("it is of version {version}, newer than {VERSION}")),
        ));
    }
    let sound: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if sound != "ok" {
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT),
            Some(sound),
        ));
    }
    if version == 0 {
        connection.execute_batch(&format!(
            "BEGIN;{TABLES}PRAGMA user_version = {VERSION};COMMIT;"
        ))?;
    }
    Ok(connection)
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(
        error.sqlite_error_code(),
        Some(DatabaseCorrupt | NotADatabase)
    )
}

fn is_remote(path: &Path) -> bool {
    let found = path
        .parent()
        .and_then(|directory| rustix::fs::statfs(directory).ok());
    found.is_some_and(|found| {
        let magic = found.f_type & 0xffff_ffff;
        REMOTE.contains(&magic)
    })
}

/// Moves a file that is not ours to understand out of the way, and forgets the oldest such.
fn set_aside(path: &Path, why: &str) {
    let name = |number: usize| PathBuf::from(format!("{}.aside-{number}", path.display()));
    for number in (1..ASIDE).rev() {
        // Those that are not there cannot be moved.
        fs::rename(name(number), name(number.saturating_add(1))).ok();
    }
    let moved = fs::rename(path, name(1)).is_ok();
    for end in ["-wal", "-shm"] {
        fs::remove_file(format!("{}{end}", path.display())).ok();
    }
    warn!(path = %path.display(), why, moved, "the journal is set aside; a fresh one begins");
}

fn write(connection: &mut Connection, words: &VecDeque<Word>) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    {
        let mut finding = transaction.prepare_cached(
            "INSERT INTO finding (id, code, subject, state, severity, since, until, json)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (id) DO UPDATE SET subject = ?3, state = ?4, severity = ?5, since = ?6,
             until = ?7, json = ?8",
        )?;
        let mut transition = transaction.prepare_cached(
            "INSERT INTO transition (finding, at, what, severity) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for Word {
            finding: is,
            what,
            at,
        } in words
        {
            let id = i64::try_from(is.id).unwrap_or(i64::MAX);
            let state = if is.state == State::Cleared {
                "cleared"
            } else {
                "active"
            };
            // A finding is made of texts and numbers, which JSON has.
            let json = serde_json::to_string(is).unwrap_or_default();
            let severity = is.severity.as_str();
            finding.execute(params![
                id, is.code, is.subject, state, severity, is.since, is.until, json
            ])?;
            transition.execute(params![id, at, what, severity])?;
        }
    }
    transaction.commit()
}

fn tidy(connection: &mut Connection, before: f64, max_bytes: u64) -> rusqlite::Result<()> {
    // The newest number stays: numbers are never given twice.
    const OLD: &str = "state = 'cleared' AND id < (SELECT max(id) FROM finding)";
    connection.execute(
        &format!("DELETE FROM finding WHERE {OLD} AND until < ?1"),
        [before],
    )?;
    let size = |connection: &Connection| -> rusqlite::Result<u64> {
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        let free: i64 = connection.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let bytes = pages.saturating_sub(free).saturating_mul(page);
        Ok(u64::try_from(bytes).unwrap_or_default())
    };
    while size(connection)? > max_bytes {
        let dropped = connection.execute(
            &format!(
                "DELETE FROM finding WHERE id IN
                 (SELECT id FROM finding WHERE {OLD} ORDER BY until LIMIT 64)"
            ),
            [],
        )?;
        orphans(connection)?;
        if dropped == 0 {
            break;
        }
    }
    orphans(connection)?;
    // Each step gives one page back.
    let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut steps = vacuum.query([])?;
    while steps.next()?.is_some() {}
    Ok(())
}

fn orphans(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .execute(
            "DELETE FROM transition WHERE finding NOT IN (SELECT id FROM finding)",
            [],
        )
        .map(drop)
}

//! The local socket `<runtime>/api.sock`: the only way in for what changes the daemon.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

/// The socket's name in the runtime directory.
pub const NAME: &str = "api.sock";
/// Owner and group may connect.
const MODE: u32 = 0o660;

/// The local socket cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Another daemon answers on it.
    #[error("cannot take {}: another railwatch answers on it", .path.display())]
    Taken {
        /// The socket.
        path: PathBuf,
    },
    /// Something that is no socket has its name.
    #[error("cannot make the socket {}: something else has that name", .path.display())]
    NoSocket {
        /// The socket.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {attempt} {}: {source}", .path.display())]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// On what.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The listening socket; its file is removed when this is dropped.
#[derive(Debug)]
pub struct LocalSocket {
    listener: UnixListener,
    file: SocketFile,
}

/// The socket's file, as long as it is ours.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl LocalSocket {
    /// Makes the socket in `runtime`, which is made if it is missing. The file of a daemon that is
    /// gone is replaced.
    ///
    /// # Errors
    ///
    /// See [`SocketError`]; the daemon can go on without its socket.
    pub fn bind(runtime: &Path) -> Result<Self, SocketError> {
        let path = runtime.join(NAME);
        fs::create_dir_all(runtime).map_err(failed("make the directory", runtime))?;
        free(&path)?;
        // Bound under another name and renamed, so that it never has wider permissions and is
        // never seen half made.
        let unfinished = runtime.join(format!("{NAME}.{}", std::process::id()));
        remove_stale(&unfinished)?;
        let listener =
            UnixListener::bind(&unfinished).map_err(failed("make the socket", &unfinished))?;
        let finished = finish(&listener, &unfinished, &path);
        if finished.is_err() {
            drop(fs::remove_file(&unfinished));
        }
        Ok(Self {
            file: finished?,
            listener,
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// The listener, and its file to keep until the end.
    #[must_use]
    pub fn into_parts(self) -> (UnixListener, SocketFile) {
        (self.listener, self.file)
    }
}

impl SocketFile {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // A daemon that has started since may have put its own socket there.
        let ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|meta| (meta.dev(), meta.ino()) == self.identity);
        if ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove the local socket");
        }
    }
}

fn finish(
    listener: &UnixListener,
    unfinished: &Path,
    path: &Path,
) -> Result<SocketFile, SocketError> {
    fs::set_permissions(unfinished, fs::Permissions::from_mode(MODE))
        .map_err(failed("set the mode of", unfinished))?;
    listener
        .set_nonblocking(true)
        .map_err(failed("set up", unfinished))?;
    let meta = fs::symlink_metadata(unfinished).map_err(failed("look at", unfinished))?;
    fs::rename(unfinished, path).map_err(failed("put in place", path))?;
    Ok(SocketFile {
        path: path.to_owned(),
        identity: (meta.dev(), meta.ino()),
    })
}

/// Makes sure that nobody answers at `path` and that nothing but a socket is there.
fn free(path: &Path) -> Result<(), SocketError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed("look at", path)(error)),
        Ok(meta) if !meta.file_type().is_socket() => {
            return Err(SocketError::NoSocket {
                path: path.to_owned(),
            });
        }
        Ok(_) => {}
    }
    match answers(path) {
        Ok(false) => Ok(()),
        Ok(true) => Err(SocketError::Taken {
            path: path.to_owned(),
        }),
        Err(errno) => Err(failed("try", path)(errno.into())),
    }
}

fn remove_stale(path: &Path) -> Result<(), SocketError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Whether somebody listens there. Does not wait: a full backlog is an answer, too.
fn answers(path: &Path) -> Result<bool, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &SocketAddrUnix::new(path)?) {
        Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS) => Ok(true),
        Err(Errno::CONNREFUSED | Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno),
    }
}

fn failed(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SocketError {
    let path = path.to_owned();
    move |source| SocketError::Io {
        attempt,
        path,
        source,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::{LocalSocket, NAME, SocketError};

    #[test]
    fn owner_and_group_may_connect_and_the_file_goes_with_the_socket() {
        let runtime = tempfile::tempdir().unwrap();
        let path = runtime.path().join("deeper").join(NAME);
        let socket = LocalSocket::bind(path.parent().unwrap()).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o660);
        UnixStream::connect(&path).unwrap();
        drop(socket);
        assert!(!path.exists());
        assert_eq!(path.parent().unwrap().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_socket_that_answers_is_not_taken_away() {
        let runtime = tempfile::tempdir().unwrap();
        let first = LocalSocket::bind(runtime.path()).unwrap();
        let second = LocalSocket::bind(runtime.path()).unwrap_err();
        assert!(matches!(second, SocketError::Taken { .. }), "{second}");
        UnixStream::connect(first.path()).unwrap();
    }

    #[test]
    fn the_socket_of_a_daemon_that_is_gone_is_replaced() {
        let runtime = tempfile::tempdir().unwrap();
        drop(UnixListener::bind(runtime.path().join(NAME)).unwrap());
        let socket = LocalSocket::bind(runtime.path()).unwrap();
        UnixStream::connect(socket.path()).unwrap();
    }

    #[test]
    fn a_file_with_the_sockets_name_is_left_alone() {
        let runtime = tempfile::tempdir().unwrap();
        std::fs::write(runtime.path().join(NAME), "mine").unwrap();
        let error = LocalSocket::bind(runtime.path()).unwrap_err();
        assert!(matches!(error, SocketError::NoSocket { .. }), "{error}");
        assert_eq!(std::fs::read(runtime.path().join(NAME)).unwrap(), b"mine");
    }

    #[test]
    fn the_socket_of_a_later_daemon_is_not_removed() {
        let runtime = tempfile::tempdir().unwrap();
        let socket = LocalSocket::bind(runtime.path()).unwrap();
        let path = socket.path().to_owned();
        std::fs::remove_file(&path).unwrap();
        let _later = UnixListener::bind(&path).unwrap();
        drop(socket);
        assert!(path.exists());
    }
}

//! Running other programs: where they run, what is shown of them, how long they may take.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// How often [`succeeds_within`] looks at its child: short against a network timeout, long against a context switch.
const POLL: Duration = Duration::from_millis(50);

/// The root of the workspace. Every command runs there.
pub fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// Cargo's target directory: `CARGO_TARGET_DIR` if it is set, else `target`.
pub fn target_dir() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A command that runs at the root of the workspace.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// The cargo that started this program.
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// How a streamed command ended, and what it wrote to stdout.
pub struct Finished {
    pub success: bool,
    pub stdout: String,
}

/// Runs a command, shows its output as it comes and keeps its stdout.
///
/// stderr is inherited, so that cargo still sees a terminal and keeps its colours.
pub fn stream(command: &mut Command) -> Result<Finished> {
    println!("$ {}", shown(command));
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| cannot_start(command))?;
    let mut stdout = String::new();
    if let Some(pipe) = child.stdout.take() {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe.read_until(b'\n', &mut line)? > 0 {
            io::stdout().write_all(&line)?;
            stdout.push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    Ok(Finished { success: child.wait()?.success(), stdout })
}

/// Runs a command with all its output on stderr; its failure is an error.
pub fn must_succeed(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", shown(command));
    let status = command.stdout(io::stderr()).status().with_context(|| cannot_start(command))?;
    ensure!(status.success(), "`{}` failed ({status}); its output above says why", shown(command));
    Ok(())
}

/// Runs a command with all its output on stderr and ends it after `limit`; true if it succeeded before.
pub fn succeeds_within(command: &mut Command, limit: Duration) -> Result<bool> {
    eprintln!("$ {}", shown(command));
    let mut child = command.stdout(io::stderr()).spawn().with_context(|| cannot_start(command))?;
    let start = Instant::now();
    while start.elapsed() < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        std::thread::sleep(POLL);
    }
    child.kill()?;
    child.wait()?;
    eprintln!("`{}` was ended after {} s", shown(command), limit.as_secs());
    Ok(false)
}

/// The trimmed stdout of a silent command, if the program exists and succeeds.
pub fn probe(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The command as one would type it.
fn shown(command: &Command) -> String {
    let environment = command
        .get_envs()
        .filter_map(|(key, value)| Some(format!("{}={}", key.to_string_lossy(), quoted(&value?.to_string_lossy()))));
    let program = Path::new(command.get_program());
    let program = if program.ends_with("bin/cargo") && !program.starts_with("/usr") {
        "cargo".to_owned()
    } else {
        program.display().to_string()
    };
    let arguments = command.get_args().map(|argument| quoted(&argument.to_string_lossy()));
    environment.chain([program]).chain(arguments).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains(char::is_whitespace) { format!("'{word}'") } else { word.to_owned() }
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start `{}`: is it installed and on the PATH?", command.get_program().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let mut command = command("tool");
        command.args(["build", "two words"]).env("FLAGS", "-D warnings").env_remove("GONE");
        assert_eq!(shown(&command), "FLAGS='-D warnings' tool build 'two words'");
    }

    #[test]
    fn a_streamed_command_keeps_its_stdout_and_its_result() {
        let finished = stream(command("sh").args(["-c", "echo kept; exit 3"])).unwrap();
        assert_eq!((finished.success, finished.stdout.as_str()), (false, "kept\n"));
    }

    #[test]
    fn a_command_that_outlives_its_limit_is_ended() {
        let start = Instant::now();
        assert!(!succeeds_within(command("sleep").arg("60"), Duration::from_millis(100)).unwrap());
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_missing_program_is_an_error_that_names_it() {
        let error = must_succeed(&mut command("no-such-program")).unwrap_err();
        assert!(error.to_string().contains("no-such-program"));
    }
}

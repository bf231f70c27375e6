//! Where an image runs: an emulator or a board, behind one interface.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::image::Image;

/// A length that no window has: the run is over.
const END: u16 = u16::MAX;

/// Wall time that the target may take for one exchange: many times the longest solve on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Something that runs a controller and answers window by window.
pub trait Target {
    /// Hands over what arrived on the wire since the last tick, and takes what the target sent in answer.
    fn exchange(&mut self, window: &[u8]) -> Result<Vec<u8>>;

    /// Ends the run: the target's last words, and its exit code if it has one.
    fn finish(&mut self) -> Result<(Vec<u8>, Option<i32>)>;

    /// Nanoseconds of virtual time per instruction; none where time is real.
    fn ns_per_instruction(&self) -> Option<u32>;
}

/// Length-prefixed windows over any byte stream.
struct Windows<W> {
    to_target: W,
    from_target: Receiver<std::io::Result<Vec<u8>>>,
}

impl<W: Write> Windows<W> {
    fn new<R: Read + Send + 'static>(to_target: W, mut from_target: R) -> Self {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            loop {
                let window = read_window(&mut from_target);
                let failed = window.is_err();
                if sender.send(window).is_err() || failed {
                    return;
                }
            }
        });
        Self { to_target, from_target: receiver }
    }

    fn send(&mut self, window: &[u8]) -> Result<()> {
        let length = u16::try_from(window.len()).ok().filter(|length| *length != END).context("window too long")?;
        let bytes = [&length.to_le_bytes(), window].concat();
        self.to_target.write_all(&bytes).context("the target does not take bytes any more")
    }

    /// The next window; `alive` is asked now and then whether waiting is of use.
    fn receive(&mut self, mut alive: impl FnMut() -> Result<bool>) -> Result<Vec<u8>> {
        let start = Instant::now();
        loop {
            match self.from_target.recv_timeout(Duration::from_millis(200)) {
                Ok(window) => return window.context("the link to the target broke"),
                Err(RecvTimeoutError::Disconnected) => bail!("the link to the target is closed"),
                Err(RecvTimeoutError::Timeout) => {
                    ensure!(alive()?, "the target ended before it answered");
                    ensure!(start.elapsed() < PATIENCE, "the target did not answer for {} s", PATIENCE.as_secs());
                }
            }
        }
    }
}

fn read_window(from: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 2];
    from.read_exact(&mut length)?;
    let mut window = vec![0; usize::from(u16::from_le_bytes(length))];
    from.read_exact(&mut window)?;
    Ok(window)
}

/// QEMU's `mps2-an500`, where virtual time is instructions executed.
pub struct Qemu {
    child: Child,
    windows: Option<Windows<File>>,
    folder: PathBuf,
    shift: u32,
}

impl Qemu {
    /// Starts an image that talks over the link; an instruction takes 2^`shift` ns.
    pub fn start(image: &Image, shift: u32) -> Result<Self> {
        let folder = new_folder()?;
        for pipe in ["to-target", "from-target"] {
            let made = Command::new("mkfifo").arg(folder.join(pipe)).status().context("cannot run mkfifo")?;
            ensure!(made.success(), "cannot make the pipe {pipe}");
        }
        // Opened for both directions, because opening for one waits for the other side.
        let open = |name| OpenOptions::new().read(true).write(true).open(folder.join(name));
        let (to_target, from_target) = (open("to-target")?, open("from-target")?);
        let child = command(image, shift, &folder).stdout(Stdio::null()).spawn().with_context(missing)?;
        Ok(Self { child, windows: Some(Windows::new(to_target, from_target)), folder, shift })
    }

    /// Runs an image that prints and ends by itself: its text and exit code.
    pub fn run(image: &Image, shift: u32, limit: Duration) -> Result<Finished> {
        let folder = new_folder()?;
        // What an image prints comes out of the emulator's stderr.
        let output = File::create(folder.join("output"))?;
        let mut command = command(image, shift, &folder);
        let child = command.stdout(output.try_clone()?).stderr(output).spawn().with_context(missing)?;
        let mut qemu = Self { child, windows: None, folder, shift };
        let start = Instant::now();
        let code = loop {
            if let Some(status) = qemu.child.try_wait()? {
                break status.code().context("the emulator was ended by a signal")?;
            }
            ensure!(start.elapsed() < limit, "{} did not end within {} s", image.name, limit.as_secs());
            std::thread::sleep(Duration::from_millis(5));
        };
        let text = std::fs::read_to_string(qemu.folder.join("output"))?;
        Ok(Finished { text, code, log: qemu.log() })
    }

    /// The bytes of the log so far.
    pub fn log(&self) -> Vec<u8> {
        std::fs::read(self.folder.join("log")).unwrap_or_default()
    }
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What it printed.
    pub text: String,
    /// Its exit code.
    pub code: i32,
    /// Bytes of its log.
    pub log: Vec<u8>,
}

impl Target for Qemu {
    fn exchange(&mut self, window: &[u8]) -> Result<Vec<u8>> {
        let windows = self.windows.as_mut().context("this image has no link")?;
        windows.send(window)?;
        windows.receive(|| Ok(self.child.try_wait()?.is_none()))
    }

    fn finish(&mut self) -> Result<(Vec<u8>, Option<i32>)> {
        let windows = self.windows.as_mut().context("this image has no link")?;
        windows.to_target.write_all(&END.to_le_bytes())?;
        let words = windows.receive(|| Ok(self.child.try_wait()?.is_none()))?;
        Ok((words, self.child.wait()?.code()))
    }

    fn ns_per_instruction(&self) -> Option<u32> {
        Some(1 << self.shift)
    }
}

impl Drop for Qemu {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A board behind a serial port that is set up already (`stty raw`).
pub struct Serial(Windows<File>);

impl Serial {
    /// Opens the port.
    pub fn open(path: &Path) -> Result<Self> {
        let port = OpenOptions::new().read(true).write(true).open(path);
        let port = port.with_context(|| format!("cannot open {}", path.display()))?;
        Ok(Self(Windows::new(port.try_clone()?, port)))
    }
}

impl Target for Serial {
    fn exchange(&mut self, window: &[u8]) -> Result<Vec<u8>> {
        self.0.send(window)?;
        self.0.receive(|| Ok(true))
    }

    fn finish(&mut self) -> Result<(Vec<u8>, Option<i32>)> {
        self.0.to_target.write_all(&END.to_le_bytes())?;
        Ok((self.0.receive(|| Ok(true))?, None))
    }

    fn ns_per_instruction(&self) -> Option<u32> {
        None
    }
}

fn command(image: &Image, shift: u32, folder: &Path) -> Command {
    let mut qemu = Command::new("qemu-system-arm");
    qemu.current_dir(folder).stdin(Stdio::null());
    qemu.args(["-M", "mps2-an500", "-cpu", "cortex-m7", "-display", "none", "-monitor", "none"]);
    qemu.args(["-semihosting-config", "enable=on,target=native", "-serial", "file:log"]);
    qemu.arg("-icount").arg(format!("shift={shift},align=off,sleep=off")).arg("-kernel").arg(&image.path);
    qemu
}

fn missing() -> &'static str {
    "cannot start qemu-system-arm: `cargo xtask setup` installs it, or prints how"
}

fn new_folder() -> Result<PathBuf> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("saltus-hil-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

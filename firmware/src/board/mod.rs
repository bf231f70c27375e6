//! The board. One file per board; the rest of the firmware sees this interface only.
//!
//! | function | what it does |
//! |---|---|
//! | `init` | clocks, UART, motor outputs off |
//! | `counter_ticks` | a counter at [`COUNTER_HZ`] that wraps |
//! | `start_control_timer` | makes `SysTick` fire |
//! | `motors_enable`, `motors_off`, `motors_are_on` | the line that powers the motors |
//! | `log_bytes` | sends bytes of the log |
//! | `open_link`, `receive`, `send` | the link to the plant |
//! | `print`, `exit` | the end of a test |

pub mod mps2_an500;
mod semihosting;

pub use mps2_an500::*;

//! A quadruped stands.
#![no_std]
#![no_main]

saltus_firmware::image!(GO1_STAND);

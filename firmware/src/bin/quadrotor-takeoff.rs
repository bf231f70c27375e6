//! A quadrotor takes off.
#![no_std]
#![no_main]

saltus_firmware::image!(QUADROTOR_TAKEOFF);

//! A pole is swung up.
#![no_std]
#![no_main]

saltus_firmware::image!(CARTPOLE_SWINGUP);

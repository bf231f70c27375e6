//! A leg hops on the spot.
#![no_std]
#![no_main]

saltus_firmware::image!(HOPPER_HOP);

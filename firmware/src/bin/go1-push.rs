//! A quadruped is pushed and stays up.
#![no_std]
#![no_main]

saltus_firmware::image!(GO1_PUSH);

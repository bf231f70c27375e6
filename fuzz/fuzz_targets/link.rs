//! No bytes make the receiver of the link panic, and what it delivers is what encodes to the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use saltus::link::{Numbers, Receiver, encode};

fuzz_target!(|input: (u8, &[u8])| {
    let (room, mut bytes) = input;
    let mut memory = vec![0; usize::from(room)];
    let mut receiver = Receiver::new(&mut memory).with_max_age_us(1000);
    while let Some(event) = receiver.next::<Numbers>(&mut bytes, 5000) {
        if let Ok((header, numbers)) = event {
            let mut frame = [0; 600];
            let frame = encode(header, &numbers, &mut frame).expect("a frame that came from fewer bytes");
            let mut again = [0; 600];
            let mut second = Receiver::new(&mut again);
            let back = second.next::<Numbers>(&mut &*frame, 5000).expect("a frame").expect("a whole one");
            assert_eq!(back, (header, numbers));
        }
    }
});

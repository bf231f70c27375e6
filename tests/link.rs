//! The link delivers what was sent, in order, once, and counts everything else.

use proptest::prelude::*;
use saltus::link::{Counts, Header, Numbers, Receiver, Rejected, encode};
use serde::{Deserialize, Serialize};

/// Room for every frame of these tests.
const ROOM: usize = 2048;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Message<'a> {
    flag: bool,
    #[serde(borrow)]
    numbers: Numbers<'a>,
}

fn frame(sequence: u16, time_us: u64, numbers: &[f32]) -> Vec<u8> {
    let mut buffer = [0; ROOM];
    let message = Message { flag: true, numbers: Numbers::of(numbers) };
    encode(Header { sequence, time_us }, &message, &mut buffer).unwrap().to_vec()
}

/// What a receiver makes of bytes: the sequence numbers it delivers, what it refuses, and its counts.
fn receive(receiver: &mut Receiver<'_>, mut bytes: &[u8], now_us: u64) -> Vec<Result<u16, Rejected>> {
    let mut events = Vec::new();
    while let Some(event) = receiver.next::<Message>(&mut bytes, now_us) {
        events.push(event.map(|(header, _)| header.sequence));
    }
    events
}

fn counts_of(bytes: &[u8], max_age_us: u64, now_us: u64) -> (Vec<Result<u16, Rejected>>, Counts) {
    let mut memory = [0; ROOM];
    let mut receiver = Receiver::new(&mut memory).with_max_age_us(max_age_us);
    let events = receive(&mut receiver, bytes, now_us);
    (events, receiver.counts())
}

#[test]
fn lost_frames_are_counted_by_the_gap_also_where_the_sequence_wraps() {
    let bytes = [frame(65_533, 0, &[1.0]), frame(65_535, 0, &[1.0]), frame(2, 0, &[1.0])].concat();
    let (events, counts) = counts_of(&bytes, u64::MAX, 0);
    assert_eq!(events, [Ok(65_533), Ok(65_535), Ok(2)]);
    assert_eq!(counts, Counts { received: 3, lost: 3, ..Counts::default() });
}

#[test]
fn a_repeated_frame_is_delivered_once() {
    let one = frame(4, 0, &[1.0]);
    let (events, counts) = counts_of(&[one.clone(), one].concat(), u64::MAX, 0);
    assert_eq!(events, [Ok(4), Err(Rejected::Duplicate)]);
    assert_eq!(counts, Counts { received: 1, duplicated: 1, ..Counts::default() });
}

#[test]
fn an_overtaken_frame_is_late_and_no_longer_lost() {
    let bytes = [frame(1, 0, &[]), frame(3, 0, &[]), frame(2, 0, &[])].concat();
    let (events, counts) = counts_of(&bytes, u64::MAX, 0);
    assert_eq!(events, [Ok(1), Ok(3), Err(Rejected::Late)]);
    assert_eq!(counts, Counts { received: 2, late: 1, ..Counts::default() });
}

#[test]
fn content_older_than_the_limit_is_late() {
    let bytes = [frame(1, 1_000, &[]), frame(2, 4_000, &[])].concat();
    let (events, counts) = counts_of(&bytes, 2_000, 5_000);
    assert_eq!(events, [Err(Rejected::Late), Ok(2)]);
    assert_eq!(counts, Counts { received: 1, late: 1, ..Counts::default() });
}

#[test]
fn a_frame_longer_than_the_buffer_is_counted_and_the_next_one_arrives() {
    let mut memory = [0; 32];
    let mut receiver = Receiver::new(&mut memory);
    let bytes = [frame(1, 0, &[1.0; 20]), frame(2, 0, &[1.0])].concat();
    assert_eq!(receive(&mut receiver, &bytes, 0), [Err(Rejected::Overlong), Ok(2)]);
    assert_eq!(receiver.counts().overlong, 1);
}

#[test]
fn a_buffer_too_small_for_the_frame_is_an_error() {
    let message = Message { flag: true, numbers: Numbers::of(&[1.0; 8]) };
    for room in 0..40 {
        assert!(encode(Header::default(), &message, &mut vec![0; room]).is_err(), "room {room}");
    }
}

proptest! {
    /// NaNs keep their bits too.
    #[test]
    fn what_is_sent_arrives_bit_for_bit_in_any_pieces(
        bits in proptest::collection::vec(any::<u32>(), 0..400),
        sequence in any::<u16>(),
        time_us in any::<u64>(),
        cut in 0.0..1.0,
    ) {
        let numbers: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
        let bytes = frame(sequence, time_us, &numbers);
        let (mut first, mut second) = bytes.split_at((bytes.len() as f64 * cut) as usize);
        let mut memory = [0; ROOM];
        let mut receiver = Receiver::new(&mut memory);
        prop_assert!(receiver.next::<Message>(&mut first, time_us).is_none());
        let (header, message) = receiver.next::<Message>(&mut second, time_us).unwrap().unwrap();
        prop_assert_eq!(header, Header { sequence, time_us });
        let arrived: Vec<u32> = message.numbers.iter().map(f32::to_bits).collect();
        prop_assert_eq!(arrived, bits);
    }

    #[test]
    fn one_wrong_bit_never_gets_through(numbers in proptest::collection::vec(any::<f32>(), 0..40), at in 0.0..1.0) {
        let good = frame(9, 77, &numbers);
        let bit = (at * (good.len() * 8) as f64) as usize;
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        let bytes = [bad, frame(10, 77, &numbers)].concat();
        let mut memory = [0; ROOM];
        let mut receiver = Receiver::new(&mut memory);
        let delivered: Vec<u16> = receive(&mut receiver, &bytes, 77).into_iter().flatten().collect();
        // A wrong final zero merges the two frames.
        prop_assert!(delivered.is_empty() || delivered == [10], "{delivered:?}");
        prop_assert!(receiver.counts().corrupt > 0);
    }

    #[test]
    fn no_bytes_make_the_receiver_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), room in 0usize..80) {
        let mut memory = vec![0; room];
        let mut receiver = Receiver::new(&mut memory);
        let events = receive(&mut receiver, &bytes, 5);
        let Counts { received, duplicated, late, corrupt, overlong, .. } = receiver.counts();
        prop_assert_eq!(events.len() as u32, received + duplicated + late + corrupt + overlong);
    }
}

//! Whatever comes over a reader's pipe, the daemon gets messages or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use railwatch::core::wire::{Event, Request};
use railwatch::host::frame;

fuzz_target!(|bytes: &[u8]| {
    let mut buffer = Vec::new();
    let mut pipe = bytes;
    while let Ok(Some(_)) = frame::read::<Vec<Event>>(&mut pipe, &mut buffer) {}
    let mut pipe = bytes;
    while let Ok(Some(_)) = frame::read::<Request>(&mut pipe, &mut buffer) {}
});

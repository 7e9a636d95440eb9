//! Whatever a kernel file holds, its parser answers.
#![no_main]

use libfuzzer_sys::fuzz_target;
use railwatch::core::catalog::Form;
use railwatch::core::parse;

const FORMS: [Form; 9] = [
    Form::Number,
    Form::NumberOrAllOnes,
    Form::StateId,
    Form::Flag,
    Form::Operstate,
    Form::Rate,
    Form::NetSpeed,
    Form::PcieSpeed,
    Form::PcieWidth,
];

fuzz_target!(|bytes: &[u8]| {
    for form in FORMS {
        for width in [4, 8, 16, 32, 64] {
            let _ = parse::outcome(bytes, form, width);
        }
    }
    if let Ok(text) = parse::text(bytes, 128) {
        assert!(!text.chars().any(char::is_control));
        let _ = parse::facts::guid(&text);
        let _ = parse::facts::netdev_names(&text);
        let _ = parse::facts::is_representor(&text);
    }
});

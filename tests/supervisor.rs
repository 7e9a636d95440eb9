//! Who is found guilty when a reader does not answer, and how often a broken one is started.
//!
//! The readers here are shell scripts that say what a test has written down for them; the time is
//! the test's own, so nothing waits but for the scripts themselves.
#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use railwatch::core::catalog::{Lane, LaneSet};
use railwatch::core::ids::DeviceKey;
use railwatch::core::model::time::BootTime;
use railwatch::core::wire::{Event, Hello, Node, PROTOCOL, Report};
use railwatch::daemon::child::{Launch, Said, Supervisor, Word};
use railwatch::host::frame;

const DEADLINE: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(30);

fn at(seconds: u64) -> BootTime {
    BootTime(seconds * 1_000_000_000)
}

fn key(name: &str) -> DeviceKey {
    DeviceKey::new(name)
}

/// A supervisor of scripts, and what the scripts say.
struct Stage {
    supervisor: Supervisor<Said>,
    inbox: Receiver<Said>,
    files: tempfile::TempDir,
}

impl Stage {
    /// `script` finds its frames in the directory it is started with as `$0`.
    fn new(script: &str) -> Self {
        let (to, inbox) = channel();
        let files = tempfile::tempdir().unwrap();
        let launch = Launch {
            program: PathBuf::from("/bin/sh"),
            arguments: vec![
                "-c".to_owned(),
                script.to_owned(),
                files.path().to_str().unwrap().to_owned(),
            ],
        };
        let hello = Hello {
            protocol: PROTOCOL,
            node: Node::Captured {
                path: String::new(),
            },
            stalled: Vec::new(),
            restricted: Vec::new(),
            raw: false,
            clock_factor: 1,
        };
        Self {
            supervisor: Supervisor::new(launch, hello, DEADLINE, to),
            inbox,
            files,
        }
    }

    /// Writes down what a script is to say.
    fn says(self, name: &str, events: Vec<Event>) -> Self {
        fs::write(
            self.files.path().join(name),
            frame::encode(&events).unwrap(),
        )
        .unwrap();
        self
    }

    fn poll(&mut self, seq: u64, now: u64) {
        self.supervisor.poll(seq, LaneSet::all(), at(now));
    }

    /// Waits for the next word of a script and hands it over.
    fn hear(&mut self, now: u64) -> Word {
        let said = self.inbox.recv_timeout(PATIENCE).unwrap();
        let copy = match &said.word {
            Word::Events(events) => Word::Events(events.clone()),
            Word::Ended(why) => Word::Ended(why.clone()),
        };
        self.supervisor.hear(said, at(now));
        copy
    }

    fn resting(&self, now: u64) -> Vec<DeviceKey> {
        self.supervisor.stalls().resting(at(now))
    }
}

fn present(devices: &[&str]) -> Event {
    Event::Present {
        devices: devices.iter().map(|name| key(name)).collect(),
        skipped: Vec::new(),
    }
}

fn report(device: &str) -> Event {
    Event::Report(Report {
        seq: 1,
        device: key(device),
        generation: 1,
        lanes: LaneSet::all(),
        began: BootTime(0),
        readings: Vec::new(),
        spent: Vec::new(),
    })
}

#[test]
fn a_reader_that_breaks_the_protocol_is_replaced_at_once() {
    for (script, expected) in [
        (r"printf '\377\377\377\377'", "longer"),
        (r"printf '\020\000\000\000ab'", "2 of 16 bytes"),
        (r"printf '\002\000\000\000\377\377'", "no message"),
        ("echo 'out of luck' >&2; exit 1", "out of luck"),
        ("exit 0", "without a word"),
    ] {
        // It takes the greeting first, or it would be replaced for not taking it.
        let mut stage = Stage::new(&format!("head -c 4 >/dev/null; {script}"));
        stage.poll(1, 0);
        let Word::Ended(why) = stage.hear(0) else {
            panic!("{script} said something")
        };
        assert!(why.contains(expected), "{script}: {why}");
        assert_eq!(stage.supervisor.pid(), None);
        stage.poll(2, 1);
        assert!(stage.supervisor.pid().is_some(), "{script} is not replaced");
        assert_eq!(stage.supervisor.counts().restarts, 1);
    }
}

#[test]
fn a_reader_that_only_ever_ends_is_started_less_and_less() {
    let mut stage = Stage::new("exit 1");
    for second in 0..3600 {
        stage.poll(second, second);
        while stage.supervisor.pid().is_some() {
            stage.hear(second);
        }
        stage.supervisor.check(at(second));
    }
    let starts = stage.supervisor.counts().restarts + 1;
    assert!((10..=80).contains(&starts), "{starts} starts in an hour");
}

#[test]
fn a_reader_that_says_nothing_is_replaced_and_no_device_blamed() {
    let mut stage = Stage::new("exec sleep 1000");
    stage.poll(1, 0);
    let before = stage.supervisor.pid();
    assert!(before.is_some());
    stage.supervisor.check(at(10));
    assert_eq!(stage.supervisor.pid(), before, "not before its deadline");
    stage.supervisor.check(at(11));
    assert_eq!(stage.supervisor.pid(), None);
    assert!(stage.resting(11).is_empty());
    stage.poll(2, 12);
    assert!(
        stage
            .supervisor
            .pid()
            .is_some_and(|pid| Some(pid) != before)
    );
    stage.supervisor.stop();
}

#[test]
fn a_device_that_does_not_answer_while_its_reader_does_is_left_out() {
    let busy = Event::Busy {
        seq: 2,
        device: key("stuck"),
    };
    let mut stage = Stage::new("cat \"$0/first\"; read -r _; cat \"$0/second\"; exec sleep 1000")
        .says(
            "first",
            vec![
                Event::Ready { protocol: PROTOCOL },
                present(&["stuck", "well"]),
                report("well"),
            ],
        )
        .says("second", vec![busy]);
    stage.poll(1, 0);
    stage.hear(0);
    // The script reads on at a line feed, which is seq 10 in the frame of this poll.
    stage.poll(10, 5);
    stage.hear(9);
    stage.supervisor.check(at(10));
    assert!(stage.resting(10).is_empty(), "not before its deadline");
    stage.supervisor.check(at(11));
    assert_eq!(stage.resting(11), [key("stuck")]);
    assert_eq!(stage.supervisor.pid(), None);
    stage.poll(11, 11);
    assert!(
        stage.supervisor.pid().is_some(),
        "the others wait for nothing"
    );
    stage.supervisor.stop();
}

#[test]
fn with_slow_lanes_a_stuck_device_is_blamed_and_not_its_reader() {
    let mut stage = Stage::new("cat \"$0/first\"; exec sleep 1000").says(
        "first",
        vec![
            Event::Ready { protocol: PROTOCOL },
            present(&["stuck", "well"]),
            report("well"),
        ],
    );
    stage.poll(1, 0);
    stage.hear(1);
    // The next poll would be sent in a minute: nothing more is said before the deadline.
    stage.supervisor.check(at(12));
    assert_eq!(stage.resting(12), [key("stuck")]);
    stage.supervisor.stop();
}

#[test]
fn a_reader_of_another_protocol_is_refused() {
    let mut stage = Stage::new("cat \"$0/first\"; exec sleep 1000").says(
        "first",
        vec![
            Event::Ready {
                protocol: PROTOCOL + 1,
            },
            present(&["a"]),
        ],
    );
    stage.poll(1, 0);
    stage.hear(0);
    assert_eq!(stage.supervisor.pid(), None);
}

#[test]
fn a_device_that_kills_its_readers_is_left_out_the_third_time() {
    let mut stage = Stage::new("cat \"$0/first\"; exit 1").says(
        "first",
        vec![
            Event::Ready { protocol: PROTOCOL },
            present(&["deadly", "well"]),
            report("well"),
        ],
    );
    for round in 0..3 {
        assert!(
            stage.resting(round).is_empty(),
            "nobody is blamed for two deaths"
        );
        stage.poll(round, round);
        stage.hear(round);
        let Word::Ended(_) = stage.hear(round) else {
            panic!("it goes on")
        };
    }
    assert_eq!(stage.resting(3), [key("deadly")]);
}

#[test]
fn a_word_of_a_reader_that_was_replaced_is_not_heard() {
    let mut stage =
        Stage::new("cat \"$0/first\"; exec sleep 1000").says("first", vec![present(&["a"])]);
    stage.poll(1, 0);
    let said = stage.inbox.recv_timeout(PATIENCE).unwrap();
    stage.supervisor.check(at(11));
    assert_eq!(stage.supervisor.pid(), None);
    assert!(stage.supervisor.hear(said, at(11)).is_empty());
}

/// Looks at `done` until it is so.
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let (_never, clock) = channel::<()>();
    for _ in 0..3000 {
        if done() {
            return;
        }
        clock.recv_timeout(Duration::from_millis(10)).unwrap_err();
    }
    unreachable!("never {what}");
}

#[test]
fn a_reader_that_closes_its_pipe_and_lives_on_is_ended() {
    let mut stage = Stage::new("head -c 4 >/dev/null; exec >&- 2>&-; exec sleep 600");
    stage.poll(1, 0);
    let pid = stage.supervisor.pid().unwrap();
    assert!(matches!(stage.hear(0), Word::Ended(_)));
    until("reaped", || {
        stage.supervisor.check(at(1));
        !PathBuf::from(format!("/proc/{pid}")).exists()
    });
    assert_eq!(stage.supervisor.counts().abandoned, 0);
}

#[test]
fn nobody_is_blamed_for_the_time_we_were_away_ourselves() {
    let mut stage =
        Stage::new("cat \"$0/hello\"; exec sleep 600").says("hello", vec![present(&["a"])]);
    stage.poll(1, 0);
    stage.hear(0);
    for second in 1..=5 {
        stage.supervisor.check(at(second));
    }
    let pid = stage.supervisor.pid();
    // Suspended for an hour with a poll open.
    stage.supervisor.check(at(3600));
    stage.supervisor.check(at(3601));
    assert_eq!(stage.supervisor.pid(), pid);
    // What is not answered after that is held against it.
    for second in 3602..3620 {
        stage.supervisor.check(at(second));
    }
    assert_ne!(stage.supervisor.pid(), pid);
}

#[test]
fn a_device_that_hangs_on_the_slow_lane_alone_is_tried_less_and_less() {
    let answer = Event::Report(Report {
        seq: 1,
        device: key("a"),
        generation: 1,
        lanes: LaneSet::default().with(Lane::Fast),
        began: BootTime(0),
        readings: Vec::new(),
        spent: Vec::new(),
    });
    let mut stage =
        Stage::new("cat \"$0/hello\"; exec sleep 600").says("hello", vec![present(&["a"]), answer]);
    let (mut rests, mut now) = (Vec::new(), 0);
    for child in 0..3 {
        while stage.supervisor.pid().is_none() {
            now += 1;
            stage.poll(now, now);
        }
        // The one before may still have its last word to say.
        while matches!(stage.hear(now), Word::Ended(_)) {}
        // The next poll is not answered, which its dispatcher says at the one after.
        stage.poll(now + 1, now + 1);
        let (seq, device) = (now + 2, key("a"));
        let busy = Word::Events(vec![Event::Busy { seq, device }]);
        stage
            .supervisor
            .hear(Said { child, word: busy }, at(now + 2));
        while stage.supervisor.pid().is_some() {
            now += 1;
            stage.supervisor.check(at(now));
            assert!(now < 100_000, "nobody is blamed");
        }
        let retry = stage.supervisor.stalls().devices()[&key("a")].retry_at;
        rests.push(retry.since(at(now)).as_secs());
        until("reaped", || {
            stage.supervisor.check(at(now));
            stage.resting(now + 100_000).is_empty()
        });
        now += rests.last().unwrap() + 1;
    }
    assert_eq!(rests, [60, 120, 240]);
}

#[test]
fn a_reader_that_ends_after_its_first_poll_is_started_less_and_less() {
    let mut stage = Stage::new("head -c 4 >/dev/null; cat \"$0/hello\"")
        .says("hello", vec![present(&[]), Event::Done { seq: 1000 }]);
    let mut starts = Vec::new();
    for now in 0..120 {
        stage.poll(now, now);
        if stage.supervisor.pid().is_some() {
            starts.push(now);
            while matches!(stage.hear(now), Word::Events(_)) {}
        }
        stage.supervisor.check(at(now));
    }
    assert!(starts.len() <= 8, "started at {starts:?}");
}

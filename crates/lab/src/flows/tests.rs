//! The workload is what the page says.

use super::*;

#[test]
fn both_ways_of_ending_end_all() {
    let mut walked = Walked::new(&[3, 1, 2]);
    assert!(!walked.expire_one(0));
    assert!((1..=3).all(|now| walked.expire_one(now) && !walked.expire_one(now)));
    let mut table = table_for(500).expect("some kilobytes");
    let mut now = 1;
    assert!(wheeled(&mut table, 500, &mut now) > 0.0);
    assert!(table.is_empty());
    assert_eq!(table.counts().expired, 500);
}

#[test]
fn flows_come_and_go_at_the_rate_asked_for() {
    let (live, packets_per_new) = (1000, 100);
    let mut tracked = Tracked::new(table_for(live * 40).expect("some megabytes"));
    tracked.apart = 2000;
    let mut population = Population::new(live, packets_per_new, 7);
    for _ in 0..400 {
        drive(&mut tracked, &mut population, 6400);
    }
    let packets = 400 * 6400;
    let counts = *tracked.table.counts();
    let (begun, new) = (counts.begun, packets / packets_per_new);
    assert!((new..=new + live).contains(&begun), "{counts:?}");
    // Of five seconds all but the last two and what a flow lives.
    assert!((new / 3..new).contains(&counts.expired), "{counts:?}");
    assert_eq!(tracked.table.len() as u64, counts.begun - counts.expired);
    assert_eq!((counts.full, counts.crowded), (0, 0));
}

#[test]
fn the_path_finds_what_it_parsed() {
    let population = Population::new(50, 0, 3);
    let frames = Rc::new(RefCell::new(Frames::new(3)));
    let tracked = Tracked::new(table_for(1000).expect("some kilobytes"));
    let mut path = Path {
        frames,
        population,
        table: Some(tracked),
    };
    assert!(path.measure(Duration::from_nanos(1)) > 0.0);
    let table = path.table.expect("as it was made").table;
    assert_eq!(table.len(), 50);
    let frames: u64 = table.flows().flat_map(|flow| flow.frames()).sum();
    assert_eq!(frames, 8192);
}

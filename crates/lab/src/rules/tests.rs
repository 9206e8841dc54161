//! Frames match what their row says.

use super::*;

const SEED: u64 = 7;

/// By the slow twin, and the classifier agrees.
#[test]
fn five_tuples_hit_the_rule_they_are_drawn_for() {
    for count in [1, 10, 300] {
        for &hit in Hit::among(count) {
            let group = Group::new(count, hit, SEED).expect("few rules");
            let mut tuples = group.tuples();
            for _ in 0..2000 {
                let key = tuples.take().key();
                let slow = group.entries.iter().position(|entry| matches(entry, &key));
                assert_eq!(first(&group.classifier, &key), slow, "{key:?}, seed {SEED}");
                match hit {
                    Hit::First => assert_eq!(slow, Some(0)),
                    Hit::Last => assert_eq!(slow, Some(count - 1)),
                    Hit::Any => assert!(slow.is_some()),
                    Hit::None => assert_eq!(slow, None),
                }
            }
        }
    }
}

/// What goes round is parsed as the five-tuples that were drawn: the counters of rules say so.
#[test]
fn each_frame_of_the_path_is_counted_by_the_rule_it_hits() {
    let lists = Arc::new(compile(0, SEED).expect("no entries"));
    for (hit, rule) in [(Hit::First, 0), (Hit::Last, 19), (Hit::None, 20)] {
        let group = Group::new(20, hit, SEED).expect("few rules");
        let circuit = Circuit::new(512, 192, group.tuples()).expect("memory");
        let circuit = Rc::new(RefCell::new(circuit));
        let mut path = Path::new(&circuit, &lists, Some(&group.entries)).expect("memory");
        let done = path.turn(5000) as u64;
        let table = path.ruleset.policy().packet_rules.as_ref().expect("rules");
        let counted: Vec<u64> = table
            .counts()
            .read()
            .iter()
            .map(|one| one.packets)
            .collect();
        let mut expected = vec![0; 21];
        expected[rule] = done;
        assert_eq!(counted, expected, "{hit:?}");
    }
}

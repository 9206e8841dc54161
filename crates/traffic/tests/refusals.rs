//! Recipes that cannot be made, and text that is none, are refused by one sentence.

use traffic::{Choice, Flows, Recipe, Share, Sizes, Sources};

#[test]
fn what_cannot_be_made_is_refused_by_a_sentence() {
    type Change = fn(&mut Recipe);
    let broken: [(Change, &str); 9] = [
        (|recipe| recipe.sizes = Sizes::Fixed(63), "64 to 9216"),
        (
            |recipe| recipe.sizes = Sizes::Weighted(vec![]),
            "64 to 9216",
        ),
        (|recipe| recipe.src_v4 = Choice::List([].into()), "src="),
        (|recipe| recipe.dst_port = Choice::Range(2, 1), "dport="),
        (|recipe| recipe.src_mac = Choice::Fixed(1 << 48), "smac="),
        (|recipe| recipe.vlan = vec![Choice::Fixed(4095)], "vlan="),
        (
            |recipe| recipe.vlan = vec![Choice::Random; 3],
            "at most two",
        ),
        (|recipe| recipe.flows = Flows::Fixed(0), "flows=0"),
        (|recipe| recipe.hit = Share::ALL, "hit=1"),
    ];
    for (change, wanted) in broken {
        let mut recipe = Recipe::default();
        change(&mut recipe);
        let error = Sources::new(&recipe).err().unwrap().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn text_that_is_no_property_is_refused_by_a_sentence() {
    let texts = [
        ("size", "63"),
        ("size", "64:0"),
        ("size", "64:4096+65:1"),
        ("protocol", "gre"),
        ("flags", "SX"),
        ("src", "10.0.0.0/33"),
        ("src", "10.0.0.9-10.0.0.1"),
        ("sport", "70000"),
        ("dmac", "02:00"),
        ("vlan", "4095"),
        ("vlan", "1.2.3"),
        ("flows", "many"),
        ("new-flows", "-1"),
        ("hit", "2"),
        ("sign", "perhaps"),
        ("stream", "65536"),
        ("cover", "all"),
        ("colour", "red"),
    ];
    for (key, value) in texts {
        let error = Recipe::default().set(key, value).unwrap_err().to_string();
        assert!(error.starts_with(key), "{error}");
    }
}

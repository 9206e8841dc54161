//! The list of experiments.

use crate::{
    Experiment, batch, copies, dispatch, flows, fragments, himeno, ladder, locks, memory, pipeline,
    routes, rss, rules, skew, stride, switch, tables, tcp, veth,
};

/// All experiments.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "ladder",
        sentence: "from one lookup at a time to our set, one change a rung, beside the published",
        over_ports: true,
        run: ladder::run,
    },
    Experiment {
        name: "batch",
        sentence: "lookups by the frames of a batch and by what is prefetched, on each table",
        over_ports: true,
        run: batch::run,
    },
    Experiment {
        name: "stride",
        sentence: "time to read one header of a frame, by the distance between frames in memory",
        over_ports: true,
        run: stride::run,
    },
    Experiment {
        name: "table",
        sentence: "sets of addresses and networks, ours and others, against the lines memory gives",
        over_ports: false,
        run: tables::run,
    },
    Experiment {
        name: "locks",
        sentence: "lookups of several threads while a writer changes their table, by locks or none",
        over_ports: true,
        run: locks::run,
    },
    Experiment {
        name: "routes",
        sentence: "one flow or many over few routes or a full table, by locks, cache or none; FIBs",
        over_ports: false,
        run: routes::run,
    },
    Experiment {
        name: "memory",
        sentence: "random lines a second by footprint, pages, prefetch: the limit of every table",
        over_ports: false,
        run: memory::run,
    },
    Experiment {
        name: "himeno",
        sentence: "a stencil over 14 arrays, by how far from the start of a page each begins",
        over_ports: false,
        run: himeno::run,
    },
    Experiment {
        name: "copies",
        sentence: "a frame copied not at all, once, twice, its header aligned or not, by length",
        over_ports: false,
        run: copies::run,
    },
    Experiment {
        name: "pipeline",
        sentence: "what each stage of the path costs a frame, by leaving one out at a time",
        over_ports: false,
        run: pipeline::run,
    },
    Experiment {
        name: "flows",
        sentence: "flows found, begun and ended, by how many there are, and by a walk",
        over_ports: false,
        run: flows::run,
    },
    Experiment {
        name: "dispatch",
        sentence: "a frame given to the worker that owns its flow, by policy and burst, and no hop",
        over_ports: false,
        run: dispatch::run,
    },
    Experiment {
        name: "fragments",
        sentence: "packets in fragments, by how many, order and loss: passed on, or put together",
        over_ports: false,
        run: fragments::run,
    },
    Experiment {
        name: "rss",
        sentence: "flows over buckets, Zipf before and after moving some, a hash's cost, workers",
        over_ports: false,
        run: rss::run,
    },
    Experiment {
        name: "rules",
        sentence: "what rules cost a frame, by how many and which one matches, and one by one",
        over_ports: false,
        run: rules::run,
    },
    Experiment {
        name: "skew",
        sentence: "loss and delay of two workers under a skewed load, where buckets stay or move",
        over_ports: false,
        run: skew::run,
    },
    Experiment {
        name: "switch",
        sentence: "what a switch costs a frame against the bridge, by ports, stations and tags",
        over_ports: false,
        run: switch::run,
    },
    Experiment {
        name: "tcp",
        sentence: "TCP queries a second of one worker, and memory of a connection, by connections",
        over_ports: false,
        run: tcp::run,
    },
    Experiment {
        name: "veth",
        sentence: "bridge, switch, nft, XDP hash map, testpmd, Open vSwitch, over veth (root)",
        over_ports: false,
        run: veth::run,
    },
];

/// The experiment of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS
        .iter()
        .find(|experiment| experiment.name == name)
}

//! Profiles that hold and profiles that are refused.

use super::*;

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text
        .strip_suffix('s')
        .and_then(|number| number.parse().ok());
    number
        .map(Duration::from_secs)
        .ok_or_else(|| "write 5s".to_owned())
}

fn read(text: &str) -> Result<Vec<PoolSpec>, LoadError> {
    read_profile(
        text,
        &Asked {
            duration: Duration::from_secs(10),
            parse_duration: seconds,
        },
    )
}

const WHOLE: &str = r#"
    rate = 100
    [[pool]]
    name = "readers"
    share = 3
    arrivals = "poisson"
    [[pool.request]]
    url = "http://127.0.0.1:81/a/{n}"
    weight = 9
    headers = ["Accept: x"]
    [[pool.request]]
    url = "http://127.0.0.1:81/b"
    method = "POST"
    body = 1000
    [[pool]]
    url = "http://127.0.0.1:82/"
    share = 1
    connections = 3
    requests_each = 1
    think = "1s"
    read_rate = 100
    write_rate = 200
    abort_after = 300
    from = "127.0.1.0/24"
    start = "2s"
    stop = "5s"
    timeout = "7s"
    requests = 50
    check = "never"
    [[pool]]
    url = "http://127.0.0.1:82/"
    [[pool]]
    url = "http://127.0.0.1:82/"
    rate = "1:1s,2-3:4s"
    closed = true
"#;

#[test]
fn a_profile_says_all_there_is() {
    let pools = read(WHOLE).expect("a profile");
    let [readers, second, third, fourth] = pools.as_slice() else {
        panic!("{pools:?}")
    };
    let arrivals = |rate, is_random| Arrivals {
        pace: Pace::Rates(Rates::constant(rate)),
        is_random,
    };
    assert_eq!(readers.load, Load::Open(arrivals(75.0, true)));
    assert_eq!((readers.requests.len(), readers.requests[0].weight), (2, 9));
    assert_eq!(readers.requests[1].body_bytes, 1000);
    assert_eq!(second.load, Load::Open(arrivals(25.0, false)));
    assert_eq!((second.name.as_str(), second.connections), ("2", 3));
    assert_eq!(
        (
            second.read_rate,
            second.write_rate,
            second.abort_after,
            second.count
        ),
        (Some(100), Some(200), Some(300), Some(50))
    );
    let times = [second.think, second.start, second.stop, second.timeout];
    assert_eq!(times.map(|time| time.as_secs()), [1, 2, 5, 7]);
    assert_eq!((&third.load, third.stop.as_secs()), (&Load::Closed, 10));
    let rates = Rates::parse("1:1s,2-3:4s", seconds).expect("rates");
    assert_eq!(fourth.load, Load::Paced(Arrivals::even(Pace::Rates(rates))));
}

/// Lines of a pool with a URL, and what the error names.
const WRONG_LINES: &[(&str, &str)] = &[
    ("conections = 3", "conections"),
    ("connections = 0", "connections of pool 1"),
    ("connections = 'x'", "line 3"),
    ("rate = 0", "rate of pool 1"),
    ("rate = nan", "rate of pool 1"),
    ("share = 1", "share of pool 1"),
    ("rate = 1\nshare = 1", "share of pool 1"),
    ("closed = true", "rate of pool 1"),
    ("rate = '1:1s'\nramp = '1s'", "rate of pool 1"),
    ("rate = '1:1'", "rate of pool 1"),
    ("rate = '0:1s'", "rate of pool 1"),
    ("rate = 1\nreplay = 'x'", "replay of pool 1"),
    ("replay = 'absent/x'", "absent/x"),
    ("rate = 1\narrivals = 'x'", "arrivals of pool 1"),
    ("think = 'x'", "think of pool 1"),
    ("start = '10s'", "stop of pool 1"),
    ("from = '::1'", "from of pool 1"),
    ("check = 'x'", "check of pool 1"),
    ("tls = { insecure = true }", "tls of pool 1"),
    ("name = 'a'\nrequest = []", "url of pool a"),
];

/// Requests of a pool without a URL, and what the error names.
const WRONG_REQUESTS: &[(&str, &str)] = &[
    ("", "url of pool 1"),
    ("{ url = 'http://127.0.0.1/{x}' }", "url of pool 1"),
    (
        "{ url = 'http://127.0.0.1/' }, { url = 'https://127.0.0.1/' }",
        "one host",
    ),
    ("{ url = 'http://127.0.0.1/', method = 'get' }", "method"),
    ("{ url = 'http://127.0.0.1/', headers = ['a'] }", "headers"),
    ("{ url = 'http://127.0.0.1/', weight = 0 }", "weight"),
    (
        "{ url = 'http://127.0.0.1/' }, { url = 'http://127.0.0.2/' }",
        "one host",
    ),
];

#[test]
fn what_is_wrong_is_named() {
    let url = "url = 'http://127.0.0.1:1/'";
    let lines = WRONG_LINES.iter();
    let lines = lines.map(|(line, named)| (format!("[[pool]]\n{url}\n{line}"), *named));
    let requests = WRONG_REQUESTS.iter();
    let requests = requests.map(|(list, named)| {
        let text = format!("[[pool]]\nrequest = [{list}]");
        (text, *named)
    });
    let whole = [
        ("", "pool"),
        ("pool = []", "0 pools"),
        ("[[pool]]", "url of pool 1"),
    ];
    let whole = whole.map(|(text, named)| (text.to_owned(), named));
    for (text, named) in lines.chain(requests).chain(whole) {
        let error = read(&text).err().map(|error| error.to_string());
        assert!(
            error.as_ref().is_some_and(|error| error.contains(named)),
            "{text}: {error:?}"
        );
    }
}

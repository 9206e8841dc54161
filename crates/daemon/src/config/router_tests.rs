//! `[[pipeline]]` with `kind = "router"`: what is read, and what is refused, all at once by line.

use plane::Otherwise;
use plane::router::ReversePath;

use super::*;

/// Lines 1 to 6.
const PORTS: &str = "[[port]]\nname = 'A'\nspec = 'gen:'\n[[port]]\nname = 'B'\nspec = 'null:'\n";
const LAN: &str = "interface = ['lan=A,10.0.0.1/24', 'wan=B.7,10.0.1.1/24']";

fn parse(added: &str) -> Result<Config, ConfigError> {
    Config::parse(Path::new("/etc/a.toml"), &format!("{PORTS}{added}"))
}

/// All that is wrong, a line each, which begins with the line in the file.
fn refused(added: &str) -> Vec<String> {
    let error = parse(added).map(|config| config.resolved());
    let error = error.expect_err(added).to_string();
    let lines = error.lines();
    lines.map(|line| line.replace("/etc/a.toml:", "")).collect()
}

#[test]
fn keys_are_the_words_of_the_options() {
    let config = parse(&format!(
        "[[pipeline]]\nkind = 'router'\nports = ['B', 'A']\n{LAN}\n\
         route = ['default via 10.0.1.2', 'blackhole 10.9.0.0/16']\n\
         neighbour = ['10.0.1.2=02:00:00:00:00:09@wan']\nreverse_path = 'strict'\n\
         icmp_rate = 7\nneighbours = 1000\n"
    ));
    let config = config.expect("a configuration");
    assert_eq!(config.pipelines[0].malformed, Otherwise::Forward);
    let settings = config.router_settings().expect("sound").expect("a router");
    let own = settings.config(&[]);
    assert_eq!((own.interfaces[0].port.0, own.interfaces[1].port.0), (0, 1));
    assert_eq!((own.routes.len(), own.neighbours.len()), (2, 1));
    assert_eq!((own.errors_per_second, own.neighbours_max), (7, 1000));
    assert_eq!(own.reverse_path, ReversePath::Strict);
    let again = Config::parse(Path::new("/etc/a.toml"), &config.resolved());
    assert_eq!(again, Ok(config));
}

const BY_KERNEL: &str = "[[port]]\nname = 'a'\nspec = 'xdp:eth1'\n[[port]]\nname = 'b'\n\
                         spec = 'packet:eth2'\n[[pipeline]]\nkind = 'router'\n";

/// Each row: keys, and what is said of them; nothing where they are right.
#[test]
fn a_router_by_the_kernels_routes_has_none_of_its_own() {
    let own = "interfaces, routes and neighbours are the kernel's";
    for (keys, said) in [
        ("kernel = true", None),
        (
            "kernel = true\non_exit = 'open'\nreverse_path = 'loose'",
            None,
        ),
        ("kernel = true\nroute = ['default via 10.0.0.1']", Some(own)),
        (
            "kernel = true\ninterface = ['lan=a,10.0.0.1/24']",
            Some(own),
        ),
        (
            "kernel = true\nneighbour = ['10.0.0.2=02:00:00:00:00:09@a']",
            Some(own),
        ),
        ("kernel = 1", Some("kernel")),
        ("kernel = true\non_exit = 'never'", Some("on_exit")),
        (
            "interface = ['lan=a,10.0.0.1/24']\non_exit = 'open'",
            Some("add kernel"),
        ),
        ("kernel = false", Some("interface")),
    ] {
        let read = Config::parse(Path::new("/etc/a.toml"), &format!("{BY_KERNEL}{keys}\n"));
        match (said, read) {
            (None, Ok(config)) => {
                let port = config.ports[0].spec.to_string();
                assert!(port.contains("keep-local=control"), "{keys}: {port}");
                let again = Config::parse(Path::new("/etc/a.toml"), &config.resolved());
                assert_eq!(again, Ok(config), "{keys}");
            }
            (Some(said), Err(error)) => {
                let error = error.to_string();
                assert!(error.contains(said), "{keys}: {error}");
            }
            (_, read) => panic!("{keys}: {:?}", read.map(|config| config.resolved())),
        }
    }
}

#[test]
fn one_port_is_enough_and_files_are_of_the_folder() {
    let router = "[[port]]\nname = 'T'\nspec = 'null:'\n[[pipeline]]\nkind = 'router'\n\
                  interface = ['v1=T.1,10.0.1.1/24', 'v2=T.2,10.0.2.1/24']\nroutes = ['r.txt']\n";
    let config = Config::parse(Path::new("/etc/a.toml"), router).expect("a configuration");
    let words = config.router_words().expect("a router");
    assert_eq!(words.routes, [PathBuf::from("/etc/r.txt")]);
    let again = Config::parse(Path::new("/other/a.toml"), &config.resolved());
    assert_eq!(again.as_ref(), Ok(&config));
    let missing = config.router_settings().expect_err("no such file");
    assert!(missing.contains("/etc/r.txt cannot be opened"), "{missing}");
    for (name, said) in [
        ("/dev/zero", "/dev/zero is no file"),
        ("/tmp", "/tmp is no file"),
    ] {
        let config = Config::parse(Path::new("/etc/a.toml"), &router.replace("r.txt", name));
        let refused = config.expect("a configuration").router_settings();
        let refused = refused.expect_err(name);
        assert!(refused.contains(said), "{refused}");
    }
}

#[test]
fn all_that_is_wrong_is_named_with_its_line() {
    for (added, said) in [
        (
            "interface = ['lan=A,10.0.0.1/24',\n'wan=C,10.0.1.1/24',\n'x=B']\nroute = ['any']",
            &["10: no port is called 'C'"][..],
        ),
        (
            "interface = ['lan=A,10.0.0.1/24']\nroute = ['default via 10.0.0.2',\n'any']\n\
             neighbour = ['10.0.0.2=x@lan',\n'10.0.0.2=02:00:00:00:00:09@wan']",
            &[
                "11: 'any'",
                "12: 'x' is no MAC address",
                "13: no interface is called 'wan'",
            ],
        ),
        (
            "interface = ['lan=A,10.0.0.1/24', 'lan=B,10.0.0.9/33']\n\
             route = ['default via 10.7.0.2']\nneighbours = 20000000\nneighbour = []",
            &["9: ", "9: ", "10: ", "11: "],
        ),
        (
            "interface = 'lan=A,10.0.0.1/24'\nreverse_path = 'both'\nicmp_rate = -1\n\
             neighbours = 0\nroutes = ['']",
            &[
                "9: interface in",
                "10: reverse_path in",
                "11: icmp_rate in",
                "12: neighbours in",
                "13: \"\" is no path",
            ],
        ),
        ("", &["7: "]),
        (
            "interfaces = []",
            &["9: [[pipeline]] knows no key 'interfaces'"],
        ),
        (
            "interface = ['lan=A,10.0.0.1/24']\nvlan = ['10=A']",
            &["10: vlan in [[pipeline]] is for a switch alone"],
        ),
        (
            "interface = ['lan=A,10.0.0.1/24']\nports = ['A']",
            &["10: port 'B' is in no pipeline"],
        ),
        (
            "interface = ['lan=A,10.0.0.1/24']\n[stateful]\nallow_new = ['A']",
            &["10: flows are remembered and packets put together between two ports alone"],
        ),
        (
            "interface = ['lan=A,10.0.0.1/24']\n[fragments]",
            &["10: [fragments] without [stateful]"],
        ),
    ] {
        let told = refused(&format!("[[pipeline]]\nkind = 'router'\n{added}\n"));
        assert_eq!(told.len(), said.len(), "{added}: {told:#?}");
        for (told, said) in told.iter().zip(said) {
            assert!(told.starts_with(said), "{added}: no '{said}' in {told}");
            assert!(told.matches(": ").count() >= 2, "no remedy: {told}");
        }
    }
    for kind in ["", "kind = 'switch'\n"] {
        let told = refused(&format!("[[pipeline]]\n{kind}{LAN}\n"));
        assert!(
            told[0].contains("interface in [[pipeline]] is for a router"),
            "{told:?}"
        );
    }
}

#[test]
fn ports_past_which_the_kernel_forwards_are_named() {
    let router = "[[pipeline]]\nkind = 'router'\ninterface = ['a=A,10.0.0.1/24']\n";
    let ports = "[[port]]\nname = 'A'\nspec = 'xdp:a,bypass=on'\n";
    let error = Config::parse(Path::new("/a.toml"), &format!("{ports}{router}"));
    let error = error.expect_err("a bypass").to_string();
    let said = "/a.toml:3: xdp:a would let frames pass by the router: leave bypass";
    assert!(error.starts_with(said), "{error}");
}

/// A router with the ports A and `spec` and these keys is right, or `said` is said of it.
fn hold(spec: &str, keys: &str, said: Option<&str>) {
    let text = format!(
        "[[port]]\nname = 'A'\nspec = 'null:'\n[[port]]\nname = 'B'\nspec = '{spec}'\n\
         [[pipeline]]\nkind = 'router'\n{keys}\n"
    );
    match (said, Config::parse(Path::new("/etc/a.toml"), &text)) {
        (None, Ok(config)) => {
            config.router_settings().expect("right settings");
            let again = Config::parse(Path::new("/etc/a.toml"), &config.resolved());
            assert_eq!(again, Ok(config), "{keys}");
        }
        (Some(said), Err(error)) => {
            let error = error.to_string();
            assert!(error.contains(said), "{keys}: {error}");
        }
        (_, read) => panic!("{keys}: {:?}", read.map(|config| config.resolved())),
    }
}

/// Two interfaces with one address, of which the second is of a VRF.
const OF_VRF: &str = "interface = ['a=A,10.0.0.1/24', 'b=B.7,10.0.0.1/24,vrf=red']\n";
/// The same, without the VRF.
const OF_NONE: &str = "interface = ['a=A,10.0.0.1/24', 'b=B.7,10.0.0.1/24']\n";

#[test]
fn vrfs_have_interfaces_and_routes() {
    for (interfaces, keys) in [
        (OF_VRF, "route = ['10.9.0.0/16 via 10.0.0.2 table red']"),
        (
            OF_VRF,
            "route = ['default via 10.0.0.2', 'default via 10.0.0.2 table red']",
        ),
        (
            OF_VRF,
            "route = ['10.9.0.0/16 via 10.0.0.2 dev b table red']",
        ),
        (OF_NONE, "vrf = ['red=B']"),
        (OF_NONE, "vrf = ['10=B.7', '20=A']"),
        (OF_VRF, "vrf = ['red=B.7']"),
    ] {
        hold("null:", &format!("{interfaces}{keys}"), None);
    }
}

#[test]
fn wrong_vrfs_are_named() {
    for (interfaces, keys, said) in [
        (
            OF_NONE,
            "",
            "10.0.0.1 is an address of the interfaces a and b",
        ),
        (
            OF_VRF,
            "vrf = ['blue=B']",
            "the interface b is of the VRF red, and of blue",
        ),
        (
            OF_VRF,
            "vrf = ['blue=B.8']",
            "a port or VLAN without an interface",
        ),
        (OF_VRF, "vrf = ['blue=C']", "no port is called 'C'"),
        (OF_VRF, "vrf = ['blue']", "'blue' names no port"),
        (
            OF_VRF,
            "vrf = ['main=A']",
            "'main' is a table that the kernel has",
        ),
        (OF_VRF, "vrf = ['a b=A']", "'a b' is no name of a VRF"),
        (OF_VRF, "vrf = 7", "vrf"),
        (
            OF_VRF,
            "route = ['default via 10.0.0.2 table blue']",
            "no VRF is called so: the VRFs are red",
        ),
        (
            OF_VRF,
            "route = ['default via 10.0.0.2 dev b']",
            "is of no VRF, and its interface b of the VRF red",
        ),
        (
            "interface = ['a=A,10.0.0.1/24']\n",
            "route = ['default via 10.0.0.2 table red']",
            "there is one alone",
        ),
        ("kernel = true\n", "vrf = ['red=A']", "in one table"),
    ] {
        hold("null:", &format!("{interfaces}{keys}"), Some(said));
    }
}

#[test]
fn punt_names_a_tap_port() {
    let with = |more: &str| format!("interface = ['a=A,10.0.0.1/24'{more}]\n");
    let host = with(", 'host=B,169.254.0.1/30'");
    let two = with(", 'host=B,169.254.0.1/30', 'b=B.7,10.7.0.1/24'");
    for (interfaces, punt, said) in [
        (&host, "B", None),
        (&host, "A", Some("'A' is null:, and what is for")),
        (&host, "X", Some("needs a tap: port among them")),
        (&with(""), "B", Some("the port 'B' has no interface")),
        (&two, "B", Some("has several interfaces")),
        (&with(", 'host=B'"), "B", Some("no address to ask")),
        (
            &"kernel = true\n".to_owned(),
            "B",
            Some("by itself: leave out punt"),
        ),
    ] {
        hold("tap:lin0", &format!("{interfaces}punt = '{punt}'"), said);
    }
}

//! What `linerate run --check` looks at beside the text: whether this machine has what the
//! configuration names. No port is touched, no list read, no command run.

use std::fs;
use std::path::Path;

use port::PortSpec;
use port::interface::{Interface, Link};

use super::{StartError, layout, packet_rules};
use crate::config::{Config, KeyFrom, PortConfig, SetConfig, Source};
use crate::privileges;
use crate::sources::Sources;

/// Looks at a configuration from here.
///
/// What is missing here may be there on the machine that the configuration is for: it is told,
/// a sentence each, and is no error.
///
/// # Errors
///
/// What no machine would take, and CPUs that this one has not.
pub fn check(config: &Config) -> Result<Vec<String>, StartError> {
    layout(config)?;
    Sources::planned(config)?;
    let mut said: Vec<String> = config.ports.iter().filter_map(of_port).collect();
    said.extend(config.sets.iter().flat_map(of_set));
    said.extend(of_routes(config)?);
    said.extend(of_rules(config)?);
    if let Some(crowdsec) = &config.crowdsec {
        let who = "[crowdsec]";
        said.extend(match &crowdsec.key {
            KeyFrom::File(path) => readable(who, path),
            KeyFrom::Environment(name) => std::env::var_os(name).is_none().then(|| {
                format!("{who}: there is no {name} in this environment: set it where it is run")
            }),
        });
        said.extend(
            crowdsec
                .ca_file
                .iter()
                .filter_map(|path| readable(who, path)),
        );
    }
    let group = config.control.group.as_deref();
    said.extend(
        group
            .filter(|name| privileges::group_id(name).is_none())
            .map(|name| {
                format!("[control]: there is no group '{name}' here: groupadd --system {name}")
            }),
    );
    let user = config.user.as_ref().map(|user| user.name.as_str());
    said.extend(
        user.filter(|name| !privileges::is_user(name))
            .map(|name| format!("[user]: there is no user '{name}' here: useradd --system {name}")),
    );
    Ok(said)
}

/// An interface is asked, and nothing of it changed.
fn of_port(port: &PortConfig) -> Option<String> {
    let name = match &port.spec {
        PortSpec::Xdp(xdp) => &xdp.interface,
        PortSpec::Packet(packet) => &packet.interface,
        _ => return None,
    };
    let who = format!("port '{}'", port.name);
    match Interface::existing(name) {
        Err(missing) => Some(format!("{who}: {missing}")),
        Ok(interface) => matches!(interface.link(), Link::Down(_)).then(|| {
            format!("{who}: {name} is down and passes no frames: ip link set dev {name} up")
        }),
    }
}

fn of_set(set: &SetConfig) -> Vec<String> {
    let who = format!("set '{}'", set.name);
    let (path, ca_file) = match &set.source {
        None => (None, None),
        Some(Source::File(path)) => (Some(path.as_path()), None),
        Some(Source::Command { argv, .. }) => (argv.first().map(Path::new), None),
        Some(Source::Url { ca_file, .. }) => (None, ca_file.as_deref()),
        Some(Source::Etcd(etcd)) => {
            return etcd
                .files()
                .filter_map(|path| readable(&who, path))
                .collect();
        }
    };
    let both = path.into_iter().chain(ca_file);
    both.filter_map(|path| readable(&who, path)).collect()
}

/// Files of routes and NAT rules are read where all are here: what is in them is no matter of the
/// machine.
fn of_routes(config: &Config) -> Result<Vec<String>, StartError> {
    let words = config.router_words();
    let routes = words.into_iter().flat_map(|words| &words.routes);
    let nat = words.and_then(|words| words.nat.as_ref());
    let absent = routes
        .chain(nat)
        .filter_map(|file| readable("[[pipeline]]", file));
    let absent: Vec<String> = absent.collect();
    if absent.is_empty() {
        config.router_settings().map_err(StartError::Other)?;
    }
    Ok(absent)
}

/// A file of rules is read where it is here.
fn of_rules(config: &Config) -> Result<Option<String>, StartError> {
    let file = config.rules_file();
    let absent = file.and_then(|file| readable("[[pipeline]]", file));
    if absent.is_none() {
        packet_rules::of_config(config, 1).map_err(StartError::Other)?;
    }
    Ok(absent)
}

/// None for a file that is there. Opening it would wait for a FIFO's other end.
fn readable(who: &str, path: &Path) -> Option<String> {
    let shown = path.display();
    match fs::metadata(path) {
        Ok(found) if found.is_file() => None,
        Ok(_) => Some(format!("{who}: {shown} is no file: name one")),
        Err(error) => Some(format!(
            "{who}: {shown} is not to be had here ({error}): the start needs it"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(more: &str) -> Result<Vec<String>, String> {
        let bridge = "[[port]]\nname = 'a'\nspec = 'gen:'\n[[port]]\nname = 'b'\nspec = 'null:'\n";
        let config = Config::parse(Path::new("/etc/a.toml"), &format!("{bridge}{more}"));
        check(&config.expect("a configuration")).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_here_is_named() {
        let set = |source: &str| format!("[[set]]\nname = 's'\naction = 'block'\n{source}\n");
        for (more, wanted) in [
            (set("source = '/no/list.txt'"), Some("/no/list.txt")),
            (set("source = '/tmp'"), Some("/tmp is no file")),
            (
                set("source = { command = ['/no/program'] }"),
                Some("/no/program"),
            ),
            (
                set("source = 'https://a.example/'\nca_file = '/no/ca'"),
                Some("/no/ca"),
            ),
            (set("source = { command = ['/bin/sh'] }"), None),
            (set(""), None),
            ("[user]\nname = 'no-such-user'".to_owned(), Some("useradd")),
            (
                "[control]\ngroup = 'no-such-group'".to_owned(),
                Some("groupadd"),
            ),
        ] {
            let said = said(&more).expect("no machine is to blame");
            assert_eq!(
                said.len(),
                usize::from(wanted.is_some()),
                "{more}: {said:?}"
            );
            let named = wanted.is_none_or(|wanted| said[0].contains(wanted));
            assert!(named, "{more}: {said:?}");
        }
    }

    #[test]
    fn files_of_routes_are_read_where_they_are_here() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let file = folder.path().join("routes.txt");
        for (text, wanted) in [
            (None, Ok("the start needs it")),
            (Some("10.9.0.0/16 via 10.0.0.2\n"), Ok("")),
            (Some("10.9.0.0/16 to 10.0.0.2\n"), Err("routes.txt:1")),
            (Some("10.9.0.0/16 via 10.7.0.2\n"), Err("10.7.0.2")),
        ] {
            if let Some(text) = text {
                fs::write(&file, text).expect("a file");
            }
            let router = format!(
                "[[pipeline]]\nkind = 'router'\ninterface = ['lan=a,10.0.0.1/24']\n\
                 routes = ['{}']\n",
                file.display()
            );
            match (said(&router), wanted) {
                (Ok(said), Ok(wanted)) => {
                    assert_eq!(said.is_empty(), wanted.is_empty(), "{text:?}: {said:?}");
                    assert!(said.concat().contains(wanted), "{text:?}: {said:?}");
                }
                (Err(said), Err(wanted)) => assert!(said.contains(wanted), "{text:?}: {said}"),
                (said, _) => panic!("{text:?}: {said:?}"),
            }
        }
    }

    #[test]
    fn an_interface_that_is_not_here_is_named() {
        let ports = "[[port]]\nname = 'a'\nspec = 'xdp:absent0'\n[[port]]\nspec = 'packet:lo'\n";
        let config = Config::parse(Path::new("/etc/a.toml"), ports).expect("a configuration");
        let said = check(&config).expect("no machine is to blame");
        assert!(
            said[0].starts_with("port 'a': there is no interface absent0"),
            "{said:?}"
        );
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        let set = "[[set]]\nname = 's'\naction = 'block'\nsource = 'https://me:SECRET@a.example/'";
        let refused = said(set).expect_err("a password");
        assert!(refused.contains("password"), "{refused}");
        assert!(!refused.contains("SECRET"), "{refused}");
    }
}

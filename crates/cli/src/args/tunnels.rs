//! Options about packets inside packets.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use plane::{Headers, TunnelPolicy};
use wire::{HashHeader, TunnelPorts};

use crate::error::Error;

/// What is done with packets inside packets.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Tunnels")]
pub(crate) struct TunnelArgs {
    /// Look at these headers of tunnelled packets: both, outer, inner.
    ///
    /// SET=inner is for one set. Tunnels are IPIP, 6in4, 4in6, GRE, VXLAN, GENEVE and GTP-U, up to
    /// four in each other. Each header is judged by the sets that look at it. A packet that carries
    /// none that can be read, encrypted ones among them, has one header, which all sets look at.
    #[arg(long = "match", value_name = "HEADERS")]
    pub(crate) matching: Vec<MatchRule>,
    /// Place tunnelled frames by this header: inner or outer.
    ///
    /// By the inner one, flows in one tunnel spread over workers; NICs go by the outer
    /// one. With --stateful it says whose flows are remembered, and is outer unless given.
    #[arg(long, value_name = "HEADER", hide_possible_values = true)]
    pub(crate) hash: Option<HashChoice>,
    /// Know tunnels by these UDP ports, as in vxlan=8472.
    ///
    /// gtp-u=none takes a kind away, several words give it several ports. A kind that is not named
    /// keeps its own: vxlan=4789, geneve=6081, gtp-u=2152.
    #[arg(
        long,
        value_name = "KIND=PORT",
        value_delimiter = ',',
        hide_short_help = true
    )]
    pub(crate) tunnel_ports: Vec<String>,
}

/// What sets look at: all, or the one that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatchRule {
    pub(crate) set: Option<String>,
    pub(crate) headers: Headers,
}

impl FromStr for MatchRule {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (set, word) = match text.rsplit_once('=') {
            Some((set, word)) => (Some(set.to_owned()), word),
            None => (None, text),
        };
        let mut words = Headers::WORDS.iter();
        let found = words.find(|(known, _)| *known == word);
        let &(_, headers) = found.ok_or("write both, outer or inner, or SET=inner for one set")?;
        Ok(Self { set, headers })
    }
}

/// Whose flow a frame is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HashChoice {
    Inner,
    Outer,
}

impl TunnelArgs {
    /// What the options mean.
    pub(crate) fn policy(&self) -> Result<TunnelPolicy, Error> {
        let words = self.tunnel_ports.iter().map(String::as_str);
        let ports = TunnelPorts::from_words(words).map_err(|error| {
            Error::refused(format!(
                "--tunnel-ports {}: {error}",
                self.tunnel_ports.join(",")
            ))
        })?;
        let hash = self.hash.map(|choice| match choice {
            HashChoice::Inner => HashHeader::Inner,
            HashChoice::Outer => HashHeader::Outer,
        });
        Ok(TunnelPolicy { hash, ports })
    }
}

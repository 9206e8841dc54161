//! `linerate doctor`: facts about the machine and its interfaces, judged.

mod finding;
mod interface;
mod machine;
pub(crate) mod missing;
mod numa;
mod offloads;
mod queues;
mod rate;
#[cfg(test)]
mod tests;
mod text;

use std::ffi::OsString;
use std::time::Duration;

use engine::{Activity, Host, allowed_cpus};
use lab::Conditions;
use port::Rights;
use port::interface::{Link, Root, Survey, irq_balancer, name_shown, names_here};
use serde::Serialize;

use crate::args::DoctorArgs;
use crate::build::VERSION;
use crate::error::{Error, Outcome};
use crate::exit::ExitCode;
use crate::output::{Output, Stream};
use finding::{Finding, Judgement};
use machine::MachineFacts;
use rate::Rate;

/// How long the CPUs are watched.
const WATCHED: Duration = Duration::from_millis(200);

/// What was found out, as JSON has it.
#[derive(Debug, Serialize)]
struct Page {
    version: &'static str,
    interfaces: Vec<InterfacePage>,
    machine: Vec<Finding>,
    /// How many findings are judged so.
    wrong: usize,
    doubtful: usize,
    unknown: usize,
}

/// One interface.
#[derive(Debug, Serialize)]
struct InterfacePage {
    name: String,
    /// The name that was asked for, where that is another one of it.
    other_name: Option<String>,
    /// What is to be expected at best.
    rate: Rate,
    findings: Vec<Finding>,
}

/// Looks, judges and prints; changes nothing.
pub(crate) fn run(args: &DoctorArgs, output: Output) -> Outcome {
    let surveys = surveys(&args.interfaces)?;
    let facts = MachineFacts {
        conditions: Conditions::read(),
        host: Host::read(),
        activity: Activity::over(WATCHED),
        irq_balancer: irq_balancer(&Root::machine()),
        rights: Rights::tried(),
    };
    let cpus = allowed_cpus().len();
    let pages = surveys.iter().map(|survey| {
        let peer = survey
            .peer
            .as_deref()
            .and_then(|peer| Survey::of(peer).ok());
        let mut page = InterfacePage::new(survey, peer.as_ref(), &facts.host, cpus);
        // Of all there are, nobody said that two are to be one bridge.
        if !args.interfaces.is_empty() && interface::is_ethernet(survey) {
            page.findings
                .extend(interface::unequal_mtus(survey, &surveys));
        }
        InterfacePage {
            rate: page.rate.within(&facts.rights),
            ..page
        }
    });
    let page = Page::new(pages.collect(), machine::findings(&facts));
    if args.json {
        output.print_json(&page)?;
    } else {
        let stream = Stream::Stdout;
        let text = text::render(&page, output.paint(stream), output.width(stream));
        output.print(stream, &text)?;
    }
    Ok(page.exit())
}

/// Of those that were named, or of all; one that is missing is refused before anything is printed.
fn surveys(names: &[OsString]) -> Result<Vec<Survey>, Error> {
    let unlisted = |error: std::io::Error| {
        Error::refused(format!(
            "the interfaces of this network namespace cannot be listed: {error}; let this process \
             use route netlink (RestrictAddressFamilies=AF_NETLINK of a service, seccomp)"
        ))
    };
    if names.is_empty() {
        return Survey::here().map_err(unlisted);
    }
    let mut surveys = Vec::new();
    for name in names {
        let name = name_shown(name);
        let survey = Survey::of(&name).map_err(Error::refused)?;
        if survey.link == Link::Absent {
            let here = names_here().map_err(unlisted)?;
            return Err(Error::refused(missing::sentence(&name, &here)));
        }
        surveys.push(survey);
    }
    Ok(surveys)
}

impl InterfacePage {
    fn new(survey: &Survey, peer: Option<&Survey>, host: &Host, cpus: usize) -> Self {
        let mut findings = interface::findings(survey);
        if interface::is_ethernet(survey) {
            findings.extend(offloads::findings(survey, peer));
            findings.extend(queues::findings(survey, cpus));
            findings.extend(numa::finding(survey, host));
        }
        Self {
            name: survey.name.clone(),
            other_name: survey.other_name.clone(),
            rate: rate::expected(survey),
            findings,
        }
    }
}

impl Page {
    fn new(interfaces: Vec<InterfacePage>, machine: Vec<Finding>) -> Self {
        let all = interfaces.iter().flat_map(|page| &page.findings);
        let all: Vec<Judgement> = all
            .chain(&machine)
            .map(|finding| finding.judgement)
            .collect();
        let count = |wanted| all.iter().filter(|&&judgement| judgement == wanted).count();
        Self {
            version: VERSION,
            wrong: count(Judgement::Wrong),
            doubtful: count(Judgement::Doubtful),
            unknown: count(Judgement::Unknown),
            interfaces,
            machine,
        }
    }

    fn exit(&self) -> ExitCode {
        if self.wrong == 0 {
            ExitCode::Done
        } else {
            ExitCode::CheckFailed
        }
    }
}

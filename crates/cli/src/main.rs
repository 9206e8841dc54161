//! The program `linerate`: what was typed, what it means here, a run, a report.
//!
//! [`args`] reads the command line and touches nothing; [`resolve`] asks the machine what it
//! means; [`bridge`], [`bypass`], [`control`], [`counters`], [`demo`], [`doctor`], [`drive`],
//! [`http`], [`locks`], [`restore`], [`rss`] and [`set_check`] do it;
//! [`report`] says what came of it. Exit codes are the closed set in [`exit`].
#![forbid(unsafe_code)]

mod args;
mod bridge;
mod build;
mod bypass;
mod capture;
mod control;
mod counters;
mod daemon_run;
mod demo;
mod doctor;
mod drive;
mod drops;
mod error;
mod exit;
mod explain;
mod hints;
mod host;
mod http;
mod interrupt;
mod laboratory;
mod layout;
mod load;
mod locks;
mod output;
mod pages;
mod paint;
mod program;
mod report;
mod resolve;
mod restore;
mod rss;
mod rules_check;
mod run;
mod screen;
mod set_check;
mod spread;
mod top;

fn main() -> std::process::ExitCode {
    program::run().into()
}

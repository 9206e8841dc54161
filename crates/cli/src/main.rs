//! The program `linerate`: what was typed, what it means here, a run, a report.
//!
//! [`args`] reads the command line and touches nothing; [`resolve`] asks the machine what it
//! means; [`bridge`], [`bypass`], [`demo`], [`doctor`], [`drive`], [`restore`], [`rss`] and [`set_check`]
//! do it;
//! [`report`] says what came of it. Exit codes are the closed set in [`exit`].
#![forbid(unsafe_code)]

mod args;
mod bridge;
mod build;
mod bypass;
mod demo;
mod doctor;
mod drive;
mod drops;
mod error;
mod exit;
mod interrupt;
mod laboratory;
mod load;
mod output;
mod paint;
mod pins;
mod program;
mod report;
mod resolve;
mod restore;
mod rss;
mod run;
mod samples;
mod screen;
mod set_check;

fn main() -> std::process::ExitCode {
    program::run().into()
}

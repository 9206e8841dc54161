//! What came of a run: the report as data ([`json`]), and the same for people ([`text`]).

pub(crate) mod dispatch;
pub(crate) mod dispatched;
mod flows;
mod fragments;
pub(crate) mod json;
pub(crate) mod ledger;
pub(crate) mod number;
mod rules;
mod starved;
pub(crate) mod table;
pub(crate) mod text;

pub(crate) use json::{DemoFigures, Report, SetFacts};
pub(crate) use rules::RuleReport;
pub(crate) use starved::starved;
pub(crate) use text::render;

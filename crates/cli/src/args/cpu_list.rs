//! CPU numbers as the kernel writes them: `0,2-3`.

use std::str::FromStr;

use frame::CpuId;

/// CPUs in the order given, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CpuList(pub(crate) Vec<CpuId>);

impl FromStr for CpuList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        daemon::config::parse_cpus(text).map(Self)
    }
}

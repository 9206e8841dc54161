//! CPU numbers as the kernel writes them: `0,2-3`.

use std::str::FromStr;

use frame::CpuId;

/// CPUs in the order given, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CpuList(pub(crate) Vec<CpuId>);

impl FromStr for CpuList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(format!(
                    "{first}-{last} runs backwards: write {last}-{first}"
                ));
            }
            for cpu in (first..=last).map(CpuId) {
                if cpus.contains(&cpu) {
                    return Err(format!(
                        "CPU {cpu} is named twice: a worker needs one of its own"
                    ));
                }
                cpus.push(cpu);
            }
        }
        Ok(Self(cpus))
    }
}

/// CPUs are few; a larger number is a slip of the finger, and a range of them a flood.
fn number(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|&number| number < 4096);
    number.ok_or_else(|| format!("'{text}' is no CPU number: write 0,1 or 0-3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        let cpus = |text: &str| text.parse::<CpuList>().map(|list| list.0);
        assert_eq!(cpus("0"), Ok(vec![CpuId(0)]));
        assert_eq!(
            cpus("4,0-2"),
            Ok(vec![CpuId(4), CpuId(0), CpuId(1), CpuId(2)])
        );
        for text in ["", "a", "1,", "3-1", "0,0", "0-2,1", "-1", "70000", "0-"] {
            assert!(cpus(text).is_err(), "{text}");
        }
    }
}

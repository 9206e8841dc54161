//! `--simulate capacity=1Mpps,queue=512,...`: a device that only exists in simulated time.

use lab::no_drop::{ModelSpec, Pauses};
use traffic::Rate;

use super::ndr::{rate, share};
use super::{count, duration};

/// Frames that a simulated device may serve or a queue may hold: what a search takes follows.
const CAPACITY_MAX: f64 = 1e8;
const QUEUE_MAX: u64 = 1 << 24;
/// Beyond this, service times of some frames would be negative.
const NOISE_MAX: f64 = 0.57;

pub(super) fn parse(text: &str) -> Result<ModelSpec, String> {
    let mut spec = ModelSpec::default();
    let (mut pause, mut every) = (None, None);
    for setting in text.split(',') {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| format!("'{setting}' is no setting: write capacity=1Mpps,queue=512"))?;
        match key {
            "capacity" => spec.capacity = frames(value)?,
            "sender" => spec.sender = Some(frames(value)?),
            "queue" => spec.queue = queue(value)?,
            "noise" => spec.noise = share(value)?,
            "loss" => spec.loss = share(value)?,
            "wander" => spec.wander = share(value)?,
            "drift" => spec.drift = signed(value)?,
            "pause" => pause = Some(duration::parse(value)?),
            "every" => every = Some(duration::parse(value)?),
            "seed" => spec.seed = value.parse().map_err(|_| "a seed is a number".to_owned())?,
            _ => {
                return Err(format!(
                    "there is no '{key}': write capacity, queue, noise, loss, drift, wander, \
                     pause, every, sender or seed"
                ));
            }
        }
    }
    spec.pauses = match (pause, every) {
        (Some(lasting), Some(every)) => Some(Pauses { every, lasting }),
        (None, None) => None,
        _ => return Err("pause and every go together: write pause=20ms,every=2s".to_owned()),
    };
    if spec.noise > NOISE_MAX {
        return Err(format!("noise is at most {NOISE_MAX}"));
    }
    Ok(spec)
}

fn frames(text: &str) -> Result<f64, String> {
    match rate(text)? {
        Rate::Frames(frames) if frames as f64 <= CAPACITY_MAX => Ok(frames as f64),
        _ => Err("write frames a second up to 100Mpps, as in 1Mpps".to_owned()),
    }
}

fn queue(text: &str) -> Result<usize, String> {
    let frames = count::parse(text)?;
    if frames > QUEUE_MAX {
        return Err(format!("a queue holds at most {QUEUE_MAX} frames"));
    }
    Ok(frames as usize)
}

/// A share with a sign.
fn signed(text: &str) -> Result<f64, String> {
    match text.strip_prefix('-') {
        Some(size) => share(size).map(|share| -share),
        None => share(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting() {
        let text = "capacity=2Mpps,queue=1k,noise=0.3,loss=1%,drift=-0.1%,wander=2%,pause=20ms,\
                    every=2s,sender=3Mpps,seed=7";
        let spec = parse(text).expect("sound");
        assert_eq!((spec.capacity, spec.queue, spec.seed), (2e6, 1000, 7));
        assert_eq!((spec.loss, spec.drift, spec.wander), (0.01, -0.001, 0.02));
        assert!(spec.pauses.is_some() && spec.sender == Some(3e6));
    }

    #[test]
    fn what_is_no_device() {
        for text in [
            "",
            "capacity",
            "capacity=fast",
            "capacity=1Gbps",
            "capacity=1Tpps",
            "queue=0",
            "queue=99999999999",
            "noise=0.9",
            "pause=1ms",
            "every=1s",
            "speed=1",
            "seed=x",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}

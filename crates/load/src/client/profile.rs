//! Pools of clients in TOML.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::{
    Arrivals, Load, Pace, PoolSpec, Rates, RequestSpec, Sources, Template, Url, header, read_replay,
};
use crate::LoadError;
use crate::http::BodyCheck;
use crate::tls::{ClientTls, ClientTlsOptions, TlsVersion};

/// The longest profile that is read.
pub const PROFILE_BYTES_MAX: usize = 1 << 20;
const POOLS_MAX: usize = 64;
const REQUESTS_MAX: usize = 10_000;
const RATE_MAX: f64 = 1e7;
/// All weights of a pool together stay below 2^32, which is how far a draw goes.
const WEIGHT_MAX: u32 = 400_000;
const CONNECTIONS_MAX: u32 = 1_000_000;

/// What a run is asked for beside its profile.
#[derive(Clone, Copy)]
pub struct Asked {
    /// How long it lasts.
    pub duration: Duration,
    /// Reads a time as users write it.
    pub parse_duration: fn(&str) -> Result<Duration, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileText {
    /// Requests a second of all pools that have a share.
    rate: Option<f64>,
    pool: Vec<PoolText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PoolText {
    name: Option<String>,
    url: Option<String>,
    request: Option<Vec<RequestText>>,
    connections: Option<u32>,
    rate: Option<RateText>,
    replay: Option<PathBuf>,
    share: Option<f64>,
    #[serde(default)]
    closed: bool,
    arrivals: Option<String>,
    ramp: Option<String>,
    requests: Option<u64>,
    requests_each: Option<u64>,
    think: Option<String>,
    read_rate: Option<u64>,
    write_rate: Option<u64>,
    abort_after: Option<u64>,
    from: Option<String>,
    start: Option<String>,
    stop: Option<String>,
    timeout: Option<String>,
    check: Option<String>,
    tls: Option<TlsText>,
}

/// One rate, or rates with times.
#[derive(Deserialize)]
#[serde(untagged)]
enum RateText {
    One(f64),
    Parts(String),
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TlsText {
    insecure: bool,
    ca: Option<PathBuf>,
    version: Option<String>,
    resumption: Option<bool>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RequestText {
    url: String,
    weight: Option<u32>,
    method: Option<String>,
    headers: Vec<String>,
    body: u64,
}

/// Reads a profile.
///
/// # Errors
/// A sentence that names the line, or the pool and the key.
pub fn read_profile(text: &str, asked: &Asked) -> Result<Vec<PoolSpec>, LoadError> {
    let profile: ProfileText =
        toml::from_str(text).map_err(|error| LoadError::new(error.to_string().trim_end()))?;
    let count = profile.pool.len();
    if count == 0 || count > POOLS_MAX {
        return Err(LoadError::new(format!(
            "there are {count} pools: write one [[pool]] or more, {POOLS_MAX} at most"
        )));
    }
    let shares = profile.pool.iter().filter_map(|pool| pool.share).sum();
    let whole = Whole {
        rate: profile.rate,
        shares,
        asked: *asked,
    };
    let pools = profile.pool.iter().enumerate();
    pools
        .map(|(index, pool)| Reader { pool, index, whole }.spec())
        .collect()
}

/// What pools have in common.
#[derive(Clone, Copy)]
struct Whole {
    rate: Option<f64>,
    shares: f64,
    asked: Asked,
}

/// One pool that is read.
struct Reader<'p> {
    pool: &'p PoolText,
    index: usize,
    whole: Whole,
}

impl Reader<'_> {
    fn spec(&self) -> Result<PoolSpec, LoadError> {
        let (pool, ten) = (self.pool, Duration::from_secs(10));
        let requests = self.requests()?;
        let url = Url::parse(&requests[0].url).map_err(|error| self.wrong("url", error))?;
        let address = url.resolve().map_err(|error| self.wrong("url", error))?;
        let sources = pool.from.as_deref().map(Sources::parse).transpose();
        let sources = sources.map_err(|error| self.wrong("from", error))?;
        if sources.is_some_and(|sources| !sources.fit(address)) {
            return Err(self.wrong("from", "take addresses of the family of the server"));
        }
        let (start, stop) = self.span()?;
        Ok(PoolSpec {
            name: self.name(),
            address,
            host: url.host.clone(),
            tls: self.tls(&url)?,
            requests: self.request_specs(&requests, &url)?,
            connections: self
                .within("connections", pool.connections, CONNECTIONS_MAX)?
                .unwrap_or(10),
            load: self.load()?,
            requests_each: self.within("requests_each", pool.requests_each, u64::MAX)?,
            think: self.time("think", pool.think.as_ref())?.unwrap_or_default(),
            read_rate: self.within("read_rate", pool.read_rate, u64::MAX)?,
            write_rate: self.within("write_rate", pool.write_rate, u64::MAX)?,
            abort_after: self.within("abort_after", pool.abort_after, u64::MAX)?,
            sources,
            start,
            stop,
            count: self.within("requests", pool.requests, u64::MAX)?,
            timeout: self.time("timeout", pool.timeout.as_ref())?.unwrap_or(ten),
            check: self.check()?,
        })
    }

    fn name(&self) -> String {
        let number = || format!("{}", self.index + 1);
        self.pool.name.clone().unwrap_or_else(number)
    }

    fn wrong(&self, key: &str, why: impl std::fmt::Display) -> LoadError {
        LoadError::new(format!("{key} of pool {}: {why}", self.name()))
    }

    /// A number above zero and up to `most`.
    fn within<T: PartialOrd + Default + Copy + std::fmt::Display>(
        &self,
        key: &str,
        number: Option<T>,
        most: T,
    ) -> Result<Option<T>, LoadError> {
        match number {
            Some(number) if number <= T::default() || number > most => {
                Err(self.wrong(key, format!("write a number from 1 to {most}")))
            }
            number => Ok(number),
        }
    }

    fn time(&self, key: &str, text: Option<&String>) -> Result<Option<Duration>, LoadError> {
        let parse = self.whole.asked.parse_duration;
        let read = text.map(|text| parse(text)).transpose();
        read.map_err(|error| self.wrong(key, error))
    }

    /// When it starts and stops.
    fn span(&self) -> Result<(Duration, Duration), LoadError> {
        let start = self
            .time("start", self.pool.start.as_ref())?
            .unwrap_or_default();
        let stop = self.time("stop", self.pool.stop.as_ref())?;
        let stop = stop.unwrap_or(self.whole.asked.duration);
        if start >= stop {
            return Err(self.wrong(
                "stop",
                "write a time behind start, and a long enough --duration",
            ));
        }
        Ok((start, stop))
    }

    fn requests(&self) -> Result<Vec<RequestText>, LoadError> {
        match (&self.pool.url, &self.pool.request) {
            (Some(url), None) => Ok(vec![RequestText {
                url: url.clone(),
                ..RequestText::default()
            }]),
            (None, Some(requests)) if (1..=REQUESTS_MAX).contains(&requests.len()) => {
                Ok(requests.clone())
            }
            _ => Err(self.wrong(
                "url",
                "write one url, or [[pool.request]] with a url in each",
            )),
        }
    }

    fn request_specs(
        &self,
        requests: &[RequestText],
        first: &Url,
    ) -> Result<Vec<RequestSpec>, LoadError> {
        let spec = |request: &RequestText| {
            let url = Url::parse(&request.url).map_err(|error| self.wrong("url", error))?;
            if (&url.host, url.is_https) != (&first.host, first.is_https) {
                return Err(self.wrong("url", "requests of one pool go to one host and port"));
            }
            let headers = request.headers.iter().map(|text| header(text)).collect();
            let method = request.method.clone().unwrap_or_else(|| "GET".to_owned());
            if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
                return Err(self.wrong("method", "write it in capitals, as in POST"));
            }
            Ok(RequestSpec {
                method,
                path: Template::parse(&url.path).map_err(|error| self.wrong("url", error))?,
                headers: Result::map_err(headers, |error| self.wrong("headers", error))?,
                body_bytes: request.body,
                weight: self
                    .within("weight", request.weight, WEIGHT_MAX)?
                    .unwrap_or(1),
            })
        };
        requests.iter().map(spec).collect()
    }

    fn load(&self) -> Result<Load, LoadError> {
        let Some(pace) = self.pace()? else {
            let pace = [
                self.pool.arrivals.is_some(),
                self.pool.ramp.is_some(),
                self.pool.closed,
            ];
            return match pace.contains(&true) {
                true => Err(self.wrong("rate", "closed, arrivals and ramp need a rate")),
                false => Ok(Load::Closed),
            };
        };
        let is_random = match self.pool.arrivals.as_deref() {
            None | Some("constant") => false,
            Some("poisson") if !matches!(pace, Pace::Replay(_)) => true,
            Some("poisson") => return Err(self.wrong("arrivals", "replay has its own times")),
            Some(_) => return Err(self.wrong("arrivals", "write constant or poisson")),
        };
        let arrivals = Arrivals { pace, is_random };
        Ok(match self.pool.closed {
            true => Load::Paced(arrivals),
            false => Load::Open(arrivals),
        })
    }

    /// When requests are due; none where each connection sends when it can.
    fn pace(&self) -> Result<Option<Pace>, LoadError> {
        let ramp = self.time("ramp", self.pool.ramp.as_ref())?;
        if let Some(file) = &self.pool.replay {
            if self.pool.rate.is_some() || self.pool.share.is_some() || ramp.is_some() {
                return Err(self.wrong("replay", "it has its own times: leave out rate and share"));
            }
            let pace = read_replay(file).map_err(|error| self.wrong("replay", error))?;
            return Ok(Some(pace));
        }
        if let Some(RateText::Parts(text)) = &self.pool.rate {
            if ramp.is_some() || self.pool.share.is_some() {
                let why = "rates with times stand without ramp and share";
                return Err(self.wrong("rate", why));
            }
            let rates = Rates::parse(text, self.whole.asked.parse_duration);
            let rates = rates.map_err(|error| self.wrong("rate", error))?;
            return Ok(Some(Pace::Rates(rates)));
        }
        let rates = self.rate()?.map(|rate| match ramp {
            None => Rates::constant(rate),
            Some(over) => Rates::ramp(rate, over),
        });
        Ok(rates.map(Pace::Rates))
    }

    fn rate(&self) -> Result<Option<f64>, LoadError> {
        let own = match &self.pool.rate {
            Some(RateText::One(rate)) => Some(*rate),
            _ => None,
        };
        let rate = match (own, self.pool.share, self.whole.rate) {
            (None, Some(share), Some(all)) if share > 0.0 => all * share / self.whole.shares,
            (None, Some(_), _) => {
                return Err(self.wrong("share", "a share above 0 needs a rate above the pools"));
            }
            (Some(_), Some(_), _) => return Err(self.wrong("share", "write a rate or a share")),
            (Some(rate), None, _) => rate,
            (None, None, _) => return Ok(None),
        };
        let sound = rate > 0.0 && rate <= RATE_MAX;
        let why = "write requests a second, above 0 and up to 10000000";
        sound
            .then_some(Some(rate))
            .ok_or_else(|| self.wrong("rate", why))
    }

    fn tls(&self, url: &Url) -> Result<Option<ClientTls>, LoadError> {
        let text = match (&self.pool.tls, url.is_https) {
            (Some(_), false) => return Err(self.wrong("tls", "it is for https:// alone")),
            (None, false) => return Ok(None),
            (text, true) => text.clone().unwrap_or_default(),
        };
        let version = text.version.as_deref().map(|version| {
            let why = || self.wrong("tls.version", "write '1.2' or '1.3'");
            TlsVersion::parse(version).ok_or_else(why)
        });
        let options = ClientTlsOptions {
            insecure: text.insecure,
            ca: text.ca,
            version: version.transpose()?,
            no_resumption: text.resumption == Some(false),
        };
        let tls = ClientTls::new(url.server_name(), &options);
        tls.map(Some).map_err(|error| self.wrong("tls", error))
    }

    fn check(&self) -> Result<BodyCheck, LoadError> {
        match self.pool.check.as_deref() {
            None | Some("announced") => Ok(BodyCheck::Announced),
            Some("always") => Ok(BodyCheck::Always),
            Some("never") => Ok(BodyCheck::Never),
            Some(_) => Err(self.wrong("check", "write announced, always or never")),
        }
    }
}

#[cfg(test)]
mod tests;

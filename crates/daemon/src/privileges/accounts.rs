//! Users and groups, as `/etc/passwd` and `/etc/group` have them.

use std::fs;

use rustix::fs::{Gid, Uid};

use super::PrivilegeError;

const PASSWD: &str = "/etc/passwd";
const GROUP: &str = "/etc/group";

/// A user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    name: String,
    pub(super) uid: Uid,
    pub(super) gid: Gid,
}

impl Account {
    pub(super) fn of(name: &str) -> Result<Self, PrivilegeError> {
        let text = fs::read_to_string(PASSWD).unwrap_or_default();
        Self::find(&text, name).ok_or_else(|| PrivilegeError::NoUser(name.to_owned()))
    }

    fn find(passwd: &str, name: &str) -> Option<Self> {
        let fields = fields_of(passwd, name)?;
        Some(Self {
            name: name.to_owned(),
            uid: Uid::from_raw(number(fields.get(2)?)?),
            gid: Gid::from_raw(number(fields.get(3)?)?),
        })
    }

    /// All groups he is in, and one more.
    pub(super) fn groups(&self, more: Option<u32>) -> Vec<Gid> {
        let text = fs::read_to_string(GROUP).unwrap_or_default();
        let mut groups = member_of(&text, &self.name);
        groups.extend(more);
        groups.push(self.gid.as_raw());
        groups.sort_unstable();
        groups.dedup();
        groups.into_iter().map(Gid::from_raw).collect()
    }
}

/// The number of a group; none if there is no such group.
#[must_use]
pub fn group_id(name: &str) -> Option<u32> {
    let text = fs::read_to_string(GROUP).unwrap_or_default();
    number(fields_of(&text, name)?.get(2)?)
}

/// Whether there is a user of this name.
#[must_use]
pub fn is_user(name: &str) -> bool {
    Account::of(name).is_ok()
}

/// The name of the user that the process runs as; none if he has none.
#[must_use]
pub fn user_name() -> Option<String> {
    let own = rustix::process::geteuid().as_raw().to_string();
    let text = fs::read_to_string(PASSWD).ok()?;
    let mut lines = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let line = lines.find(|fields| fields.get(2) == Some(&own.as_str()))?;
    line.first().map(|&name| name.to_owned())
}

fn fields_of<'t>(text: &'t str, name: &str) -> Option<Vec<&'t str>> {
    let mut lines = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
    lines.find(|fields| fields.first() == Some(&name))
}

/// 2^32 - 1 is no number of anybody: it says that nothing is to change.
fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&number| number != u32::MAX)
}

fn member_of(group: &str, user: &str) -> Vec<u32> {
    let gid = |line: &str| {
        let mut fields = line.split(':').skip(2);
        let gid = number(fields.next()?)?;
        let mut members = fields.next()?.split(',');
        members.any(|member| member == user).then_some(gid)
    };
    group.lines().filter_map(gid).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_by_name_alone() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nline:x:998:997::/:/bin/false\nbad:x:-1\n";
        let account = Account::find(passwd, "line").expect("a user");
        assert_eq!((account.uid.as_raw(), account.gid.as_raw()), (998, 997));
        for name in ["lin", "bad", "998", ""] {
            assert_eq!(Account::find(passwd, name), None, "{name}");
        }
        let everybody = "x:x:4294967295:0::/:";
        assert_eq!(Account::find(everybody, "x"), None);
    }

    #[test]
    fn groups_of_a_user() {
        let group = "adm:x:4:a,line\nline:x:997:\nother:x:5:liner,aline\nbad:x\n";
        assert_eq!(member_of(group, "line"), [4]);
        assert_eq!(group_id("root"), Some(0));
        assert_eq!(group_id("no such group"), None);
    }
}

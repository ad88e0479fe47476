//! How much memory can still be had, so that what cannot fit is refused before it is begun.
//!
//! On Linux the least of what the system, the control group and the limit of the address space leave; elsewhere nothing is known, and
//! nothing refused.

use crate::error::InputError;

/// What can still be had (bytes), and what limits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    pub bytes: u64,
    pub limit: &'static str,
}

/// What can still be had, if it is known.
pub fn left() -> Option<Left> {
    #[cfg(target_os = "linux")]
    let left = linux::left();
    #[cfg(not(target_os = "linux"))]
    let left = None;
    left
}

/// Refuses what needs more than can be had; `what` begins the sentence.
pub fn check(field: impl Into<String>, what: &str, needed: u64) -> Result<(), InputError> {
    check_with(field, what, needed, left())
}

/// The same when so much is left.
pub fn check_with(
    field: impl Into<String>,
    what: &str,
    needed: u64,
    left: Option<Left>,
) -> Result<(), InputError> {
    match left.filter(|left| needed > left.bytes) {
        None => Ok(()),
        Some(Left { bytes, limit }) => {
            let message = format!(
                "{what} would need about {} of memory, and {} are left ({limit}): choose a coarser mesh",
                in_units(needed),
                in_units(bytes)
            );
            Err(InputError::field(field, message))
        }
    }
}

/// Like `5.9 GB`.
pub fn in_units(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Left;
    use std::fs::read_to_string;
    use std::path::Path;

    pub fn left() -> Option<Left> {
        let system = read_to_string("/proc/meminfo").ok().and_then(|text| of_system(&text));
        let group = read_to_string("/proc/self/cgroup").ok().and_then(|text| of_groups(&text));
        let limits = read_to_string("/proc/self/limits").ok();
        let space = limits.zip(read_to_string("/proc/self/status").ok());
        let space = space.and_then(|(limits, status)| of_address_space(&limits, &status));
        let all = [
            (system, "what the system has available"),
            (group, "the control group's limit"),
            (space, "the limit of the address space"),
        ];
        let known = all.into_iter().filter_map(|(bytes, limit)| Some(Left { bytes: bytes?, limit }));
        known.min_by_key(|left| left.bytes)
    }

    /// `MemAvailable` of `/proc/meminfo`.
    pub(super) fn of_system(meminfo: &str) -> Option<u64> {
        kilobytes(meminfo, "MemAvailable:")
    }

    fn kilobytes(text: &str, name: &str) -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    }

    /// Every thread that allocates takes this much of the address space at once (bytes), used or not.
    const ARENA: u64 = 64 << 20;

    /// The soft limit of the address space, less what is in use and what two threads take.
    pub(super) fn of_address_space(limits: &str, status: &str) -> Option<u64> {
        let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        let limit: u64 = line.split_whitespace().next()?.parse().ok()?; // not a number: unlimited
        Some(limit.saturating_sub(kilobytes(status, "VmSize:")?).saturating_sub(2 * ARENA))
    }

    /// The least that the control groups of this process leave, from its own to the root.
    fn of_groups(groups: &str) -> Option<u64> {
        let group = |line: &str| {
            let mut parts = line.splitn(3, ':');
            let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
            let (root, names) = match controllers {
                "" => ("/sys/fs/cgroup", ["memory.max", "memory.current", "inactive_file "]),
                _ if controllers.split(',').any(|name| name == "memory") => (
                    "/sys/fs/cgroup/memory",
                    ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "],
                ),
                _ => return None,
            };
            let own = Path::new(root).join(path.trim_start_matches('/'));
            own.ancestors().take_while(|at| at.starts_with(root)).filter_map(|at| of_group(at, names)).min()
        };
        groups.lines().filter_map(group).min()
    }

    /// The limit of one group less what is in use there; cached files make way.
    pub(super) fn of_group(at: &Path, [limit, used, cached]: [&str; 3]) -> Option<u64> {
        let number = |name: &str| read_to_string(at.join(name)).ok()?.trim().parse::<u64>().ok();
        let (limit, used) = (number(limit)?, number(used)?);
        let stat = read_to_string(at.join("memory.stat")).unwrap_or_default();
        let cached = stat.lines().find_map(|line| line.strip_prefix(cached)?.trim().parse::<u64>().ok());
        Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_the_numbers() {
        let left = Some(Left { bytes: 5_900_000_000, limit: "the limit" });
        assert_eq!(check_with("mesh", "it", 5_900_000_000, left), Ok(()));
        assert_eq!(check_with("mesh", "it", u64::MAX, None), Ok(()));
        let refused = check_with("mesh", "it", 8_640_000_000, left).unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("mesh"));
        assert!(refused.message.contains("8.6 GB") && refused.message.contains("5.9 GB"), "{refused}");
        assert!(refused.message.contains("the limit"), "{refused}");
        assert_eq!(in_units(123_456_789), "123 MB");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn limits_are_read_as_linux_writes_them() {
        assert_eq!(linux::of_system("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        let status = "VmPeak:\t 9 kB\nVmSize:\t    1024 kB\n";
        let limits =
            |soft: &str| format!("Max data size 1 2 bytes\nMax address space   {soft}   unlimited   bytes\n");
        assert_eq!(linux::of_address_space(&limits("137363456"), status), Some(2 << 20));
        assert_eq!(linux::of_address_space(&limits("9"), status), Some(0));
        assert_eq!(linux::of_address_space(&limits("unlimited"), status), None);
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let names = ["memory.max", "memory.current", "inactive_file "];
        assert_eq!(linux::of_group(folder.path(), names), None);
        write("memory.current", "600000\n");
        write("memory.stat", "anon 1\ninactive_file 100000\n");
        for (limit, left) in [("max\n", None), ("1000000\n", Some(500_000)), ("9\n", Some(0))] {
            write("memory.max", limit);
            assert_eq!(linux::of_group(folder.path(), names), left, "{limit}");
        }
        assert!(left().is_some_and(|left| left.bytes > 1 << 20), "{:?}", left());
    }
}

//! Under which addresses other machines reach this one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Where a server on "any address" can be reached: addresses of this machine's interfaces, then
/// the machine itself. For a server on one address, that one.
pub(crate) fn reachable(listening: SocketAddr) -> Vec<SocketAddr> {
    let ip = listening.ip();
    if !ip.is_unspecified() {
        return vec![listening];
    }
    let mut all = interfaces();
    // A server on any IPv4 address has no IPv6 one; the other way round it has both.
    all.retain(|found| !found.is_loopback() && (ip.is_ipv6() || found.is_ipv4()));
    all.sort_by_key(IpAddr::is_ipv6);
    all.dedup();
    all.push(match ip {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    });
    all.into_iter().map(|ip| SocketAddr::new(ip, listening.port())).collect()
}

/// Addresses of the interfaces, as far as the system tells.
fn interfaces() -> Vec<IpAddr> {
    let trie = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
    let six = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    let mut all: Vec<IpAddr> = local_v4(&trie).into_iter().map(IpAddr::V4).collect();
    if all.is_empty() {
        all.extend(outward());
    }
    all.extend(global_v6(&six).into_iter().map(IpAddr::V6));
    all
}

/// This machine's own addresses in the kernel's table of routes: each leaf is followed by what it is.
fn local_v4(trie: &str) -> Vec<Ipv4Addr> {
    let mut found: Vec<Ipv4Addr> = Vec::new();
    let mut leaf = None;
    for line in trie.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.parse().ok();
        } else if line.contains("/32 host LOCAL")
            && let Some(address) = leaf.take()
            && !found.contains(&address)
        {
            found.push(address);
        }
    }
    found
}

/// Addresses that other networks can use; those of one link only would need its name.
fn global_v6(table: &str) -> Vec<Ipv6Addr> {
    let of = |line: &str| {
        let mut words = line.split_whitespace();
        let (address, scope) = (words.next()?, words.nth(2)?);
        let bits = u128::from_str_radix(address, 16).ok()?;
        (scope == "00").then(|| Ipv6Addr::from_bits(bits))
    };
    table.lines().filter_map(of).collect()
}

/// The address from which the way out goes: nothing is sent to find out.
fn outward() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_own_addresses_are_found_in_the_tables() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n\
                    \n        |-- 10.1.2.0\n           /24 link UNICAST\n        |-- 10.1.2.7\n\
                    \n           /32 host LOCAL\n        |-- 10.1.2.255\n           /32 link BROADCAST\n\
                    \n     |-- 127.0.0.1\n        /32 host LOCAL\n        |-- 10.1.2.7\n           /32 host LOCAL\n";
        assert_eq!(local_v4(trie), [Ipv4Addr::new(10, 1, 2, 7), Ipv4Addr::LOCALHOST]);
        let six = "fe80000000000000000000000000abcd 02 40 20 80 eth0\n\
                   20010db8000000000000000000000001 02 40 00 80 eth0\n";
        assert_eq!(global_v6(six), ["2001:db8::1".parse::<Ipv6Addr>().unwrap()]);
    }

    #[test]
    fn any_address_means_all_interfaces_and_this_machine() {
        let one: SocketAddr = "10.0.0.3:80".parse().unwrap();
        assert_eq!(reachable(one), [one]);
        let all = reachable("0.0.0.0:80".parse().unwrap());
        assert_eq!(all.last(), Some(&"127.0.0.1:80".parse().unwrap()));
        assert!(all.iter().all(|at| at.is_ipv4() && !at.ip().is_unspecified()), "{all:?}");
    }
}

use super::*;

fn on_request(comparison: Comparison) -> SyscallSet {
    SyscallSet::call("ioctl").unwrap().with(Condition {
        argument: 1,
        width: Width::Bits32,
        comparison,
    })
}

#[test]
fn high_bits_do_not_slip_past_a_32_bit_comparison() {
    let set = on_request(Comparison::Equal(0x5412));
    assert!(set.matches("ioctl", &[0, 0x5412, 0, 0, 0, 0]));
    assert!(set.matches("ioctl", &[0, 0xdead_0000_0000_5412, 0, 0, 0, 0]));
    assert!(!set.matches("ioctl", &[0x5412, 0, 0, 0, 0, 0]));
    assert!(!set.matches("fcntl", &[0, 0x5412, 0, 0, 0, 0]));
}

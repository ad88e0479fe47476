//! The device's own clock.

use crate::common;
use crate::gpu_kernels::random_state;
use dashpot::gpu::kernel::{Call, Id};
use dashpot::gpu::shader::Library;
use dashpot::gpu::stream::Stream;

/// More passes in a submission than a query set of 4,096 timestamps has room for, twice.
const CALLS: u64 = 5000;

#[test]
fn every_call_is_measured_however_many_a_submission_has() {
    let Some(context) = common::context().filter(|context| context.adapter.timestamps) else { return };
    let mut stream = Stream::new(context, &random_state(), Library::BuiltIn).unwrap();
    stream.profile_kernels();
    for _ in 0..CALLS {
        stream.kernel(Id::reduce_gradient).unwrap();
    }
    let bytes = stream.bytes_of(Id::reduce_gradient, &Call::default());
    for round in 1..=2 {
        stream.submit().unwrap();
        let times = stream.kernel_times();
        assert_eq!(times.len(), 1);
        assert_eq!((times[0].calls, times[0].bytes), (CALLS, CALLS * bytes), "round {round}");
        assert!(times[0].ms > 0.0);
    }
    assert_eq!(stream.usage().submissions, 1);
}

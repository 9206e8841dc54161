//! Requests of the control socket.

use daemon::rpc::answers::{
    ActionParams, AddParams, CancelParams, DeleteParams, FlushParams, HelloParams, HitsParams,
    LoadParams, NoParams, SetParams, TestParams, WatchParams,
};
use daemon::rpc::{ENTRIES_MAX, Request, RpcError};

/// A line of a peer, taken as the parameters of every method: whatever it is, it is read or refused
/// with one printable sentence, entries are within their bound, and what was read can be written.
pub fn control(line: &[u8]) {
    let request = match Request::parse(line) {
        Ok(request) => request,
        Err(bad) => return refused(&bad.error),
    };
    match request.params::<AddParams>() {
        Ok(params) => {
            assert!(params.entries.0.len() <= ENTRIES_MAX);
            let shown = serde_json::to_string(&params).expect("what was read can be written");
            let again: AddParams = serde_json::from_str(&shown).expect("and read again");
            assert_eq!(again, params);
        }
        Err(error) => {
            assert!(error.entry.is_none_or(|place| place < ENTRIES_MAX as u64));
            refused(&error);
        }
    }
    let others = [
        request.params::<DeleteParams>().err(),
        request.params::<FlushParams>().err(),
        request.params::<LoadParams>().err(),
        request.params::<SetParams>().err(),
        request.params::<TestParams>().err(),
        request.params::<ActionParams>().err(),
        request.params::<HelloParams>().err(),
        request.params::<HitsParams>().err(),
        request.params::<WatchParams>().err(),
        request.params::<CancelParams>().err(),
        request.params::<NoParams>().err(),
    ];
    others.iter().flatten().for_each(refused);
}

fn refused(error: &RpcError) {
    assert!(!error.message.is_empty());
}

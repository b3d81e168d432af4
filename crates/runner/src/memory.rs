//! What the C library of Linux does with memory that is free: it keeps what a unit frees, in pieces that the next one, of
//! another size, does not fit into (two gigabytes after 600 units on faces, of which none needs a fifth), and what a thread
//! frees from the others.

/// Lets all threads allocate from one heap. Those that the C library gives to threads end at 64 MB, so that for each solve
/// on faces one would come and go: OT-IT takes up to half as long again, for pages that are made anew. Only for threads that
/// work on the same solve: a sweep was not quicker with it (one trial of two moons 18.7 s instead of 16.7, each run once).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "the C library has no other interface")]
pub fn share_one_heap() {
    // SAFETY: it sets a number, before there are other threads.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Other systems' libraries have no such heaps.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn share_one_heap() {}

/// Returns what is free to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "the C library has no other interface")]
pub fn return_what_is_free() {
    // SAFETY: it may be called at any time, from any thread, and touches free memory only.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other systems' libraries do so by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn return_what_is_free() {}

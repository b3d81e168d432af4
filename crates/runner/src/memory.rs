//! Gives memory back. The C library of Linux keeps what a unit frees, in pieces that the next one, of another size, does
//! not fit into: two gigabytes after 600 units on faces, of which none needs a fifth.

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

//! Downloads from a loopback server: whole, truncated, corrupted, refused, slow, resumed.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use datasets::{
    DataRoots, DataSet, DownloadError, Environment, Error, Fetcher, Library, Progress, blob_id,
};

/// How the server treats one request; the last one repeats.
#[derive(Debug, Clone, Copy)]
enum Behaviour {
    Serve,
    /// Announces everything, sends this many bytes and hangs up.
    HangUpAfter(usize),
    /// Sends this many bytes and then nothing, without hanging up.
    StallAfter(usize),
    /// Changes one byte.
    Corrupt,
    /// Sends a piece at a time, with a pause before each.
    Dribble,
    NotFound,
    /// Sends all of it whatever range was asked for.
    IgnoreRange,
}

struct Server {
    address: String,
    /// The start of the range of each request.
    requested: Arc<Mutex<Vec<Option<usize>>>>,
}

impl Server {
    fn start(content: Vec<u8>, behaviours: &[Behaviour]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requested = Arc::new(Mutex::new(Vec::new()));
        let (log, behaviours) = (Arc::clone(&requested), behaviours.to_vec());
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let behaviour = behaviours[number.min(behaviours.len() - 1)];
                let (content, log) = (content.clone(), Arc::clone(&log));
                std::thread::spawn(move || {
                    // The client may hang up first: that is its right.
                    let _ = answer(&stream.unwrap(), &content, behaviour, &log);
                });
            }
        });
        Self { address, requested }
    }

    fn ranges(&self) -> Vec<Option<usize>> {
        self.requested.lock().unwrap().clone()
    }
}

fn answer(
    stream: &TcpStream,
    content: &[u8],
    behaviour: Behaviour,
    log: &Mutex<Vec<Option<usize>>>,
) -> std::io::Result<()> {
    let mut range = None;
    for line in BufReader::new(stream).lines() {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(start) = line.strip_prefix("range: bytes=") {
            range = start.trim_end_matches('-').parse().ok();
        }
    }
    log.lock().unwrap().push(range);
    let mut stream = stream;
    if matches!(behaviour, Behaviour::NotFound) {
        return stream.write_all(
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
    }
    let start = range.filter(|_| !matches!(behaviour, Behaviour::IgnoreRange)).unwrap_or(0);
    if start >= content.len() {
        return stream.write_all(
            b"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        );
    }
    let mut body = content[start..].to_vec();
    let status = if start > 0 { "206 Partial Content" } else { "200 OK" };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    match behaviour {
        Behaviour::HangUpAfter(bytes) => stream.write_all(&body[..bytes.min(body.len())]),
        Behaviour::StallAfter(bytes) => {
            stream.write_all(&body[..bytes])?;
            std::thread::sleep(Duration::from_secs(3));
            Ok(())
        }
        Behaviour::Corrupt => {
            body[0] ^= 1;
            stream.write_all(&body)
        }
        Behaviour::Dribble => {
            for piece in body.chunks(body.len() / 8) {
                std::thread::sleep(Duration::from_millis(100));
                stream.write_all(piece)?;
            }
            Ok(())
        }
        _ => stream.write_all(&body),
    }
}

fn content() -> Vec<u8> {
    (0..200_000_u32).map(|place| (place % 253) as u8).collect()
}

fn expected_id() -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("content");
    std::fs::write(&path, content()).unwrap();
    blob_id(&path).unwrap()
}

#[derive(Default)]
struct Record {
    totals: RefCell<Vec<Option<u64>>>,
    last: RefCell<u64>,
}

impl Progress for Record {
    fn start(&self, _file: &str, total: Option<u64>) {
        self.totals.borrow_mut().push(total);
    }
    fn at(&self, bytes: u64) {
        *self.last.borrow_mut() = bytes;
    }
    fn finish(&self) {}
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    fn file(&self) -> PathBuf {
        self.0.path().join("set").join("file.mat")
    }
    fn partial(&self) -> PathBuf {
        self.0.path().join("set").join("file.mat.part")
    }
    fn leave_partial(&self, bytes: &[u8]) {
        std::fs::create_dir_all(self.0.path().join("set")).unwrap();
        std::fs::write(self.partial(), bytes).unwrap();
    }
    fn download(&self, server: &Server, record: &Record) -> Result<(), DownloadError> {
        let fetcher = Fetcher::with_patience(Some(&server.address), Duration::from_millis(500));
        let url = format!("{}/file.mat", server.address);
        fetcher.download(&url, &expected_id(), &self.file(), record)
    }
}

fn is_complete(path: &Path) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes == content())
}

#[test]
fn a_whole_file_is_verified_and_renamed() {
    let (folder, record) = (Folder::new(), Record::default());
    let server = Server::start(content(), &[Behaviour::Serve]);
    folder.download(&server, &record).unwrap();
    assert!(is_complete(&folder.file()));
    assert!(!folder.partial().exists());
    assert_eq!(*record.totals.borrow(), [Some(200_000)]);
    assert_eq!(*record.last.borrow(), 200_000);
}

#[test]
fn a_transfer_that_breaks_off_is_taken_up_where_it_stopped() {
    let folder = Folder::new();
    let server = Server::start(content(), &[Behaviour::HangUpAfter(70_000), Behaviour::Serve]);
    folder.download(&server, &Record::default()).unwrap();
    assert!(is_complete(&folder.file()));
    assert_eq!(server.ranges(), [None, Some(70_000)]);
}

#[test]
fn a_transfer_that_keeps_breaking_off_keeps_what_arrived_for_the_next_run() {
    let folder = Folder::new();
    let broken = Server::start(content(), &[Behaviour::HangUpAfter(1_000)]);
    let problem = folder.download(&broken, &Record::default()).unwrap_err();
    let text = problem.to_string();
    assert!(text.contains("the transfer stopped after 3000 of 200000 bytes"), "{text}");
    assert!(text.contains("the same command goes on from there"), "{text}");
    assert!(!folder.file().exists());

    let whole = Server::start(content(), &[Behaviour::Serve]);
    folder.download(&whole, &Record::default()).unwrap();
    assert_eq!(whole.ranges(), [Some(3_000)]);
    assert!(is_complete(&folder.file()));
}

#[test]
fn a_corrupted_file_leaves_nothing_and_says_so() {
    let folder = Folder::new();
    let server = Server::start(content(), &[Behaviour::Corrupt]);
    let text = folder.download(&server, &Record::default()).unwrap_err().to_string();
    assert!(text.contains("the content is not the expected one (git blob "), "{text}");
    assert!(text.contains("Nothing was kept"), "{text}");
    assert!(!folder.file().exists() && !folder.partial().exists());
}

#[test]
fn a_damaged_partial_file_is_fetched_again_from_the_start() {
    let folder = Folder::new();
    folder.leave_partial(b"not the beginning of the file");
    let server = Server::start(content(), &[Behaviour::Serve]);
    folder.download(&server, &Record::default()).unwrap();
    assert_eq!(server.ranges(), [Some(29), None]);
    assert!(is_complete(&folder.file()));
}

#[test]
fn a_complete_partial_file_is_taken_as_it_is() {
    let folder = Folder::new();
    folder.leave_partial(&content());
    let server = Server::start(content(), &[Behaviour::Serve]);
    folder.download(&server, &Record::default()).unwrap();
    assert!(is_complete(&folder.file()));
}

#[test]
fn a_server_without_ranges_sends_everything_again() {
    let folder = Folder::new();
    folder.leave_partial(&content()[..500]);
    let server = Server::start(content(), &[Behaviour::IgnoreRange]);
    folder.download(&server, &Record::default()).unwrap();
    assert!(is_complete(&folder.file()));
}

#[test]
fn a_missing_file_is_reported_with_its_status_and_leaves_no_folder() {
    let folder = Folder::new();
    let server = Server::start(content(), &[Behaviour::NotFound]);
    let text = folder.download(&server, &Record::default()).unwrap_err().to_string();
    assert!(text.ends_with("/file.mat: the server answered 404"), "{text}");
    assert!(!folder.0.path().join("set").exists());
}

#[test]
fn a_slow_server_is_waited_for_as_long_as_something_arrives() {
    // 800 ms in all, more than the patience of 500 ms for silence.
    let folder = Folder::new();
    let server = Server::start(content(), &[Behaviour::Dribble]);
    folder.download(&server, &Record::default()).unwrap();
    assert!(is_complete(&folder.file()));
    assert_eq!(server.ranges(), [None]);
}

#[test]
fn a_silent_server_is_given_up() {
    let folder = Folder::new();
    let server = Server::start(content(), &[Behaviour::StallAfter(1_000), Behaviour::Serve]);
    folder.download(&server, &Record::default()).unwrap();
    assert!(is_complete(&folder.file()));
    assert_eq!(server.ranges(), [None, Some(1_000)]);
}

#[test]
fn two_downloads_of_one_file_do_not_mix() {
    let folder = Folder::new();
    folder.leave_partial(b"");
    let other = std::fs::File::open(folder.partial()).unwrap();
    other.lock().unwrap();
    let server = Server::start(content(), &[Behaviour::Serve]);
    let text = folder.download(&server, &Record::default()).unwrap_err().to_string();
    assert!(text.contains("another process is downloading this file"), "{text}");
}

#[test]
fn without_network_every_missing_file_is_listed_with_address_and_folder() {
    // A port that nobody listens on.
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let environment =
        Environment { data_option: Some(folder.path().to_owned()), ..Environment::default() };
    let mirror = format!("http://{unused}");
    let library = Library::new(DataRoots::new(&environment), Fetcher::new(Some(&mirror)));
    let set = DataSet::find("office-decaf6").unwrap();
    let unpublished = DataSet::find("office-decaf7").unwrap();
    let wanted = [
        (set, set.domain("A").unwrap()),
        (set, set.domain("W").unwrap()),
        (unpublished, unpublished.domain("D").unwrap()),
    ];
    let problem = library.fetch_missing(&wanted, &Record::default()).unwrap_err();
    let Error::Missing(files) = &problem else { panic!("{problem}") };
    assert_eq!(files.len(), 3);
    let text = problem.to_string();
    let place = folder.path().join("office_decaf6").display().to_string();
    for expected in [
        "3 data files are missing",
        "amazon_decaf.mat (office-decaf6 A)",
        "webcam_decaf.mat (office-decaf6 W)",
        "1c7c45b858bd400b25c132d178c8e2f603074afc/data/Office-Caltech10/amazon_decaf.mat",
        &format!("to   {place}"),
        "dslr_decaf7.mat (office-decaf7 D)",
        "no public source: bring your own copy",
        "not tried: the host did not answer for the file before",
        "--data DIR or OTDA_DATA",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in {text}");
    }
}

//! The catalogue's entries. Counts and blob ids were read off the files themselves.

use super::{Classes, DataSet, DomainEntry, Source};
use crate::preprocess::Step;

/// Every catalogued set, in the paper's order. Two moons is generated: see [`crate::TwoMoons`].
pub static SETS: [DataSet; 5] = [DIGITS, PIE, OFFICE_SURF, OFFICE_DECAF6, OFFICE_DECAF7];

/// Of most domains the paper draws 20 source samples a class.
const USUAL_DRAW: usize = 20;
/// DSLR's smallest class has no more than 8 samples.
const DSLR_DRAW: usize = 8;

const DIGITS: DataSet = DataSet {
    id: "digits",
    title: "USPS and MNIST digits, 16×16 grey levels",
    problem: "Digits",
    folder: "digits",
    classes: Classes::Numbered { first: 0, count: 10 },
    width: 256,
    preprocessing: &[Step::L2Rows],
    citation: "J. J. Hull, IEEE TPAMI 16(5), 1994 (USPS); Y. LeCun et al., Proc. IEEE 86(11), 1998 (MNIST); \
               samples of M. Long et al., ICCV 2013",
    licence: "no licence stated; used for research by common practice",
    domains: &[
        DomainEntry {
            abbreviation: "U",
            name: "USPS",
            file: "USPS_vs_MNIST.mat",
            source: Some(meda("8720d6e158dc1c0cfece1681c92553618d829541")),
            class_counts: &[352, 241, 165, 166, 166, 126, 139, 172, 129, 144],
            source_per_class: USUAL_DRAW,
        },
        DomainEntry {
            abbreviation: "M",
            name: "MNIST",
            file: "MNIST_vs_USPS.mat",
            source: Some(meda("794a1d3e48c42d68b183e91e624a86f7e90dbfa9")),
            class_counts: &[196, 227, 207, 202, 196, 179, 191, 206, 195, 201],
            source_per_class: USUAL_DRAW,
        },
    ],
};

const PIE: DataSet = DataSet {
    id: "pie",
    title: "CMU PIE faces under four poses, 32×32 grey levels",
    problem: "Faces",
    folder: "pie",
    classes: Classes::Numbered { first: 1, count: PIE_SUBJECTS },
    width: 1024,
    preprocessing: &[Step::L2Rows],
    citation: "T. Sim, S. Baker, M. Bsat, IEEE TPAMI 25(12), 2003; crops of D. Cai et al.",
    licence: "for research, under the terms of CMU's PIE database",
    domains: &[
        DomainEntry {
            abbreviation: "P1",
            name: "PIE05",
            file: "PIE05.mat",
            source: Some(jpda("db61f06a3086eeaefeea42100111ead4f754235b")),
            class_counts: &[49; PIE_SUBJECTS],
            source_per_class: USUAL_DRAW,
        },
        DomainEntry {
            abbreviation: "P2",
            name: "PIE07",
            file: "PIE07.mat",
            source: Some(jpda("b2dc1f6d6f3278408186a86656d01f258fe4938c")),
            class_counts: &PIE07_COUNTS,
            source_per_class: USUAL_DRAW,
        },
        DomainEntry {
            abbreviation: "P3",
            name: "PIE09",
            file: "PIE09.mat",
            source: Some(jpda("425b797344268cf32b79aefa527766234fa0faa9")),
            class_counts: &[24; PIE_SUBJECTS],
            source_per_class: USUAL_DRAW,
        },
        DomainEntry {
            abbreviation: "P4",
            name: "PIE29",
            file: "PIE29.mat",
            source: Some(jpda("117c99938c1abd82a2313b0d6b8e2da7d5ad57d2")),
            class_counts: &[24; PIE_SUBJECTS],
            source_per_class: USUAL_DRAW,
        },
    ],
};

const PIE_SUBJECTS: usize = 68;
/// Subject 38 lacks three images of this pose.
const PIE07_COUNTS: [usize; PIE_SUBJECTS] = {
    let mut counts = [24; PIE_SUBJECTS];
    counts[37] = 21;
    counts
};

const OFFICE_SURF: DataSet = DataSet {
    id: "office-surf",
    title: "Office-Caltech objects, 800-bin SURF histograms",
    problem: "Objects",
    folder: "office_surf",
    classes: OFFICE_CLASSES,
    width: 800,
    preprocessing: &[Step::L1Rows, Step::Zscore],
    citation: OFFICE_CITATION,
    licence: OFFICE_LICENCE,
    domains: &[
        DomainEntry {
            file: "Caltech10_SURF_L10.mat",
            source: Some(meda("c722e73ad53f8480bdf8bfe8447c4c91b82752fb")),
            ..CALTECH
        },
        DomainEntry {
            file: "amazon_SURF_L10.mat",
            source: Some(meda("f7b9f80031fca5169388f05346ba7ac279280968")),
            ..AMAZON
        },
        DomainEntry {
            file: "webcam_SURF_L10.mat",
            source: Some(meda("81bb7794911595f6c452b9ae7749fb5c4fba57b4")),
            ..WEBCAM
        },
        DomainEntry {
            file: "dslr_SURF_L10.mat",
            source: Some(meda("944902f10891e355beed167f54d14c345453e38b")),
            ..DSLR
        },
    ],
};

const OFFICE_DECAF6: DataSet = DataSet {
    id: "office-decaf6",
    title: "Office-Caltech objects, DeCAF features of layer 6",
    problem: "Objects (DeCAF6)",
    folder: "office_decaf6",
    classes: OFFICE_CLASSES,
    width: 4096,
    preprocessing: &[],
    citation: DECAF_CITATION,
    licence: OFFICE_LICENCE,
    domains: &[
        DomainEntry {
            file: "caltech_decaf.mat",
            source: Some(cmms("0cbd7bfef812fc7d8275f1874eac53d6e703e27e")),
            ..CALTECH
        },
        DomainEntry {
            file: "amazon_decaf.mat",
            source: Some(cmms("79a03a3befed86b5c02b8796a9054e7f9fd07af8")),
            ..AMAZON
        },
        DomainEntry {
            file: "webcam_decaf.mat",
            source: Some(cmms("8a97157cd79b2dc35d998ad332cdd34f4f856d14")),
            ..WEBCAM
        },
        DomainEntry {
            file: "dslr_decaf.mat",
            source: Some(cmms("17056093870aa4613eb9be2e2304deedaca721b2")),
            ..DSLR
        },
    ],
};

/// No public source is known: users bring these files.
const OFFICE_DECAF7: DataSet = DataSet {
    id: "office-decaf7",
    title: "Office-Caltech objects, DeCAF features of layer 7",
    problem: "Objects (DeCAF7)",
    folder: "office_decaf7",
    classes: OFFICE_CLASSES,
    width: 4096,
    preprocessing: &[],
    citation: DECAF_CITATION,
    licence: OFFICE_LICENCE,
    domains: &[
        DomainEntry { file: "caltech_decaf7.mat", ..CALTECH },
        DomainEntry { file: "amazon_decaf7.mat", ..AMAZON },
        DomainEntry { file: "webcam_decaf7.mat", ..WEBCAM },
        DomainEntry { file: "dslr_decaf7.mat", ..DSLR },
    ],
};

const OFFICE_CLASSES: Classes = Classes::Named(&[
    "backpack",
    "bike",
    "calculator",
    "headphones",
    "keyboard",
    "laptop",
    "monitor",
    "mouse",
    "mug",
    "projector",
]);
const OFFICE_CITATION: &str = "B. Gong, Y. Shi, F. Sha, K. Grauman, CVPR 2012; images of K. Saenko et al., ECCV 2010, and \
     G. Griffin et al., Caltech-256, 2007";
const DECAF_CITATION: &str = "J. Donahue et al., DeCAF, ICML 2014; images of K. Saenko et al., ECCV 2010, and \
                              G. Griffin et al., Caltech-256, 2007";
const OFFICE_LICENCE: &str = "no licence stated; used for research by common practice";

// The images of Office-Caltech are the same whatever the features; a set adds its files.
const CALTECH: DomainEntry = DomainEntry {
    abbreviation: "C",
    name: "Caltech",
    file: "",
    source: None,
    class_counts: &[151, 110, 100, 138, 85, 128, 133, 94, 87, 97],
    source_per_class: USUAL_DRAW,
};
const AMAZON: DomainEntry = DomainEntry {
    abbreviation: "A",
    name: "Amazon",
    file: "",
    source: None,
    class_counts: &[92, 82, 94, 99, 100, 100, 99, 100, 94, 98],
    source_per_class: USUAL_DRAW,
};
const WEBCAM: DomainEntry = DomainEntry {
    abbreviation: "W",
    name: "Webcam",
    file: "",
    source: None,
    class_counts: &[29, 21, 31, 27, 27, 30, 43, 30, 27, 30],
    source_per_class: USUAL_DRAW,
};
const DSLR: DomainEntry = DomainEntry {
    abbreviation: "D",
    name: "DSLR",
    file: "",
    source: None,
    class_counts: &[12, 21, 12, 13, 10, 24, 22, 12, 8, 23],
    source_per_class: DSLR_DRAW,
};

const fn meda(blob_id: &'static str) -> Source {
    Source {
        repository: "caokangx/MK-MMCD-MEDA",
        commit: "61bc949ec59a3b030476a04bb1dd647a1990eeca",
        folder: "data",
        blob_id,
    }
}

const fn jpda(blob_id: &'static str) -> Source {
    Source {
        repository: "chamwen/JPDA",
        commit: "b056e5eca625fc480aa605242348809f9199d5f8",
        folder: "data",
        blob_id,
    }
}

const fn cmms(blob_id: &'static str) -> Source {
    Source {
        repository: "LeiTian-qj/CMMS",
        commit: "1c7c45b858bd400b25c132d178c8e2f603074afc",
        folder: "data/Office-Caltech10",
        blob_id,
    }
}

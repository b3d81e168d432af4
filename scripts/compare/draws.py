"""The draws of the protocol (crates/datasets/src/draw.rs), so that both sides see the same samples.

A draw is made by ChaCha12 with the key (seed, names of the pair, trial) and a stream for each purpose, and by the
shuffle of the Rust crate `rand` 0.8. What is here is those two and nothing else; that it is right is checked by every
run of the experiment: 1NN without adaptation has to have the same accuracies on both sides.
"""

import numpy as np

SOURCE, HALVES = 0, 1  # streams
ROUNDS = 12
CONSTANTS = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
QUARTERS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
            (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
WORD, LONG = 2**32 - 1, 2**64 - 1


def draw(source, target, pair, trial, source_per_class, seed=1):
    """Indices of the source's samples, and of the target's validation and test halves. Trials count from 0."""
    key = [seed, name_hash(pair[0]), name_hash(pair[1]), trial]
    labels = source[1]
    random = random_words(key, SOURCE)
    drawn = [shuffled(np.flatnonzero(labels == label), random)[:source_per_class] for label in np.unique(labels)]
    order = shuffled(np.arange(len(target[0])), random_words(key, HALVES))
    # Of each class the first, third, … go to the test.
    is_test = np.zeros(len(order), dtype=bool)
    for label in np.unique(target[1]):
        is_test[np.flatnonzero(target[1][order] == label)[::2]] = True
    return np.concatenate(drawn), order[~is_test], order[is_test]


def name_hash(name):
    """FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & LONG
    return value


def random_words(key, stream):
    key_words = [part for long in key for part in (long & WORD, long >> 32)]
    counter = 0
    while True:
        state = [*CONSTANTS, *key_words, counter & WORD, counter >> 32, stream & WORD, stream >> 32]
        yield from chacha_block(state)
        counter += 1


def chacha_block(state):
    def rotate(value, bits):
        return (value << bits | value >> (32 - bits)) & WORD

    words = list(state)
    for _ in range(ROUNDS // 2):
        for a, b, c, d in QUARTERS:
            for first, second, bits in ((a, d, 16), (c, b, 12), (a, d, 8), (c, b, 7)):
                other = b if first == a else d
                words[first] = (words[first] + words[other]) & WORD
                words[second] = rotate(words[second] ^ words[first], bits)
    return [(word + start) & WORD for word, start in zip(words, state)]


def shuffled(values, random):
    values = np.array(values)
    for last in range(len(values) - 1, 0, -1):
        other = below(last + 1, random)
        values[[last, other]] = values[[other, last]]
    return values


def below(bound, random):
    """A number under the bound, without bias."""
    zone = (bound << (32 - bound.bit_length())) - 1
    while True:
        product = next(random) * bound
        if product & WORD <= zone:
            return product >> 32

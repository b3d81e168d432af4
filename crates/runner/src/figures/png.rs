//! Small grey pictures as PNG (ISO/IEC 15948), their pixels stored uncompressed.

/// A picture of grey values, row by row.
pub fn png(width: u32, pixels: &[u8]) -> Vec<u8> {
    let columns = width as usize;
    let height = u32::try_from(pixels.len() / columns.max(1)).unwrap_or(0);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    // Eight bits of grey, deflate, the one filter method, not interlaced.
    header.extend([8, 0, 0, 0, 0]);
    chunk(&mut file, *b"IHDR", &header);
    // Each row begins with its filter: none.
    let rows: Vec<u8> = pixels
        .chunks(columns.max(1))
        .flat_map(|row| std::iter::once(0).chain(row.iter().copied()))
        .collect();
    chunk(&mut file, *b"IDAT", &stored(&rows));
    chunk(&mut file, *b"IEND", &[]);
    file
}

/// A zlib stream (RFC 1950) of stored blocks (RFC 1951).
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(usize::from(u16::MAX)).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        stream.push(u8::from(blocks.peek().is_none()));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    stream.extend(adler32(bytes).to_be_bytes());
    stream
}

fn chunk(file: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    file.extend(u32::try_from(data.len()).unwrap_or(0).to_be_bytes());
    let start = file.len();
    file.extend(name);
    file.extend(data);
    let sum = crc32(&file[start..]);
    file.extend(sum.to_be_bytes());
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 }
        })
    };
    !bytes.iter().fold(u32::MAX, step)
}

fn adler32(bytes: &[u8]) -> u32 {
    let (low, high) = bytes.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65521;
        (low, (high + low) % 65521)
    });
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksums_are_those_of_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn a_picture_has_its_header_and_its_pixels() {
        let file = png(2, &[1, 2, 3, 4]);
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!(&file[16..24], [0, 0, 0, 2, 0, 0, 0, 2]);
        assert!(file.windows(6).any(|bytes| bytes == [0, 1, 2, 0, 3, 4]));
    }
}

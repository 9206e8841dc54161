//! Dumps of programs, read or refused by name.

use super::*;

/// 35 bytes, of which 0x61 to 0x66 are letters that are digits, too.
fn frame() -> Vec<u8> {
    let head = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
    let text = *b"abcdefabcdefabcd";
    [&head[..], &text, b"abc"].concat()
}

/// The frame as programs print it.
const DUMPS: &[(&str, &str)] = &[
    (
        "tshark -x",
        "0000  02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00   ..............E.\n\
         0010  61 62 63 64 65 66 61 62 63 64 65 66 61 62 63 64   abcdefabcdefabcd\n\
         0020  61 62 63                                          abc\n",
    ),
    (
        "Wireshark",
        "0000   02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00\r\n\
         0010   61 62 63 64 65 66 61 62 63 64 65 66 61 62 63 64\r\n\
         0020   61 62 63\r\n",
    ),
    (
        "tcpdump -xx",
        "12:00:00.000000 IP 192.0.2.1.1 > 198.51.100.2.2: UDP, length 20\n\
         \t0x0000:  0200 0000 0001 0200 0000 0002 0800 4500\n\
         \t0x0010:  6162 6364 6566 6162 6364 6566 6162 6364\n\
         \t0x0020:  6162 63",
    ),
    (
        "tcpdump -XX",
        "\t0x0000:  0200 0000 0001 0200 0000 0002 0800 4500  ..............E.\n\
         \t0x0010:  6162 6364 6566 6162 6364 6566 6162 6364  abcdefabcdefabcd\n\
         \t0x0020:  6162 63                                  abc",
    ),
    (
        "xxd",
        "00000000: 0200 0000 0001 0200 0000 0002 0800 4500  ..............E.\n\
         00000010: 6162 6364 6566 6162 6364 6566 6162 6364  abcdefabcdefabcd\n\
         00000020: 6162 63                                  abc\n",
    ),
    (
        "hexdump -C",
        "00000000  02 00 00 00 00 01 02 00  00 00 00 02 08 00 45 00  |..............E.|\n\
         00000010  61 62 63 64 65 66 61 62  63 64 65 66 61 62 63 64  |abcdefabcdefabcd|\n\
         00000020  61 62 63                                          |abc|\n\
         00000023\n",
    ),
    (
        "od -A x -t x1",
        "000000 02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00\n\
         000010 61 62 63 64 65 66 61 62 63 64 65 66 61 62 63 64\n\
         000020 61 62 63\n\
         000023\n",
    ),
    (
        "od -t x1z",
        "0000000 02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00  >..............E.<\n\
         0000020 61 62 63 64 65 66 61 62 63 64 65 66 61 62 63 64  >abcdefabcdefabcd<\n\
         0000040 61 62 63                                         >abc<\n\
         0000043\n",
    ),
    (
        "od -A d -t x1",
        "0000000 02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00\n\
         0000016 61 62 63 64 65 66 61 62 63 64 65 66 61 62 63 64\n\
         0000032 61 62 63\n0000035\n",
    ),
    (
        "xxd -g4",
        "00000000: 02000000 00010200 00000002 08004500  ..............E.\n\
         00000010: 61626364 65666162 63646566 61626364  abcdefabcdefabcd\n\
         00000020: 616263                               abc\n",
    ),
    (
        "print_hex_dump of Linux, a row of 8",
        "00000000: 02 00 00 00 00 01 02 00  ........\n\
         00000008: 00 00 00 02 08 00 45 00  ......E.\n\
         00000010: 61 62 63 64 65 66 61 62  abcdefab\n\
         00000018: 63 64 65 66 61 62 63 64  cdefabcd\n\
         00000020: 61 62 63                 abc",
    ),
    (
        "offsets of two digits",
        "00: 02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00\n\
         10: 61 62 63 64 65 66 61 62 63 64 65 66 61 62 63 64\n20: 61 62 63\n",
    ),
    (
        "xxd -p",
        "020000000001020000000002080045006162636465666162636465666162\n6364616263\n",
    ),
    (
        "lines of pairs",
        "02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00\n\
         61 62 63 64 65 66 61 62 63 64 65 66 61 62 63 64 61 62 63",
    ),
];

#[test]
fn dumps_of_programs_are_the_bytes_in_them() {
    for (program, text) in DUMPS {
        assert_eq!(frame_bytes(text), Ok(frame()), "{program}");
    }
    let line = "0000  02 00 00 00 00 01";
    assert_eq!(frame_bytes(line), Ok(frame()[..6].to_vec()));
    let fields = "020000000001 020000000002 0800 4500 61626364";
    assert_eq!(frame_bytes(fields).map(|bytes| bytes.len()), Ok(20));
    let zeros = "00000000: 02000000 00010200 00000002 00000000  ................\n\
                 00000010: 00000000 00000000                    ........";
    assert_eq!(frame_bytes(zeros).map(|bytes| bytes.len()), Ok(24));
    let groups = "0000 0000 0001 0200";
    assert_eq!(frame_bytes(groups), Ok(vec![0, 0, 0, 0, 0, 1, 2, 0]));
}

/// A frame of 60 zeros, of which dumps leave lines out, and rows that end at or behind a middle.
#[test]
fn rows_that_are_left_out_or_short_are_read() {
    let zeros = "00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|";
    let hexdump = format!(
        "00000000  {zeros}\n*\n00000030  00 00 00 00 00 00 00 00  00 00 00 00              \
         |............|\n0000003c\n"
    );
    let words = "0000 0000 0000 0000 0000 0000 0000 0000";
    let xxd =
        format!("00000000: {words}  ................\n*\n00000030: 0000 0000 0000 0000 0000 0000");
    assert_eq!(frame_bytes(&hexdump), Ok(vec![0; 60]));
    assert_eq!(frame_bytes(&xxd), Ok(vec![0; 60]));
    for (text, len) in [
        ("00000000  61 62 63 64 65 66 67 68  69 6a", 10),
        ("00000000  61 62 63 64 65 66 67 68  |abcdefgh|", 8),
        (
            "00000000  61 62 63 64 65 66 67 68  69 6a                    |abcdefghij|",
            10,
        ),
        ("0000  61 62    ab", 2),
        ("0000  61 62 20 63 64 20 65 66   ab cd ef", 8),
        ("0000  20 20 61 20   a", 4),
        ("0000  3e 7c 61 62   >|ab", 4),
    ] {
        assert_eq!(
            frame_bytes(text).map(|bytes| bytes.len()),
            Ok(len),
            "{text}"
        );
    }
}

/// What is no frame as it stands, and what is said of it.
const REFUSED: &[(&str, &str)] = &[
    // hexdump and od -x: the words of a machine with little-endian order.
    (
        "0000000 0002 0000 0100 0002 0000 0200 0008 0045\n0000010 6261 6463",
        WORDS,
    ),
    (
        "000000 0002 0000 0100 0002 0000 0200 0008 0045\n000010 6261 6463",
        WORDS,
    ),
    (
        "0000000 000002 000000 000400 000002\n0000010 061141\n0000012",
        WORDS,
    ),
    // od -An -x: the same words without offsets.
    (
        " 0002 0000 0100 0002 0000 0200 0008 0045\n 1c00 0100 0000 1140 0000 00c0",
        WORDS,
    ),
    // xxd -e, in words of 4, 2 and 8 bytes, and without text.
    (
        "00000000: 00000002 00020100 02000000 00450008  ..............E.\n\
         00000010:   636261                             abc",
        LITTLE,
    ),
    (
        "00000000: 0002 0000 0100 0002 0000 0200 0008 0045  ..............E.\n\
         00000010: 6261   63                                abc",
        LITTLE,
    ),
    (
        "00000000: 0002010000000002 0045000802000000  ..............E.",
        LITTLE,
    ),
    (
        "00000000: 00000002 00020100 02000000 00450008\n00000010: 00001c00",
        LITTLE,
    ),
    // od -t u1, od -c, hexdump -b, hexdump -d, xxd -b: bytes in other numbers.
    ("0000000   2   0   0   0   0   1\n0000006", NUMBERS),
    ("0000000 002  \\0  \\0   a\n0000004", NUMBERS),
    ("0000000 002 000 000\n0000003", NUMBERS),
    ("0000000   00002   00000\n0000004", NUMBERS),
    ("0000000  10  20  45  69\n0000004", UNLIKE),
    ("0000000  10  20  45  69", UNLIKE),
    ("00000000: 00000010 00000000 01000101  ..E", NUMBERS),
    ("00000000: 00000010 00000000 01000101", NUMBERS),
    // od -An, od -A x -t x4 of one line, od -An -t x1 of zeros.
    ("000002 000000 000400 000002", NUMBERS),
    ("000000 00000002 00020100", WORDS),
    ("000000 0002 0000 0100", WORDS),
    ("000000 0002 0000 0100 000006 6261", WORDS),
    ("00 00 00\n*\n00 00", LEFT_OUT),
    // Lines joined into one: hexdump -C, tshark -x, xxd, tcpdump -xx.
    (
        "00000000 02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00 |..............E.| 00000010 \
         61 62 |ab| 00000012",
        JOINED,
    ),
    ("00000000  02 00 00 00 00 01  |......| 00000006", JOINED),
    (
        "0000 02 00 00 00 00 01 02 00 00 00 00 02 08 00 45 00 0010 61 62 63",
        JOINED,
    ),
    ("0000  02 00 00 00 00 01   ...... 0006  61 62   ab", JOINED),
    ("00000000: 0200 0000 00000004: 6162", JOINED),
    ("0x0000:  0200 0000 0x0004:  6162", JOINED),
    ("12:00:00.000000 IP a > b: UDP 0x0000:  0200 0000", JOINED),
    // The middle of a dump.
    ("0010  61 62 63 64\n0014  65 66", UNLIKE),
    ("00000064: 0200 0000", UNLIKE),
    ("0000000e  08 00 45 00", UNLIKE),
    // Two frames, a line that is missing, one that is short, text of another line.
    ("0x0000:  0200 0000\n0x0000:  0200 0000", UNLIKE),
    ("0000  02 00 00 00\n0010  02 00", UNLIKE),
    ("0000  02 00 00 00 00 01 02\n0006  02 00", UNLIKE),
    ("0000  61 62   .xyz", UNLIKE),
    ("02 00 00 00  ....", WRONG),
    ("0x02, 0x00", WRONG),
    ("\\x02\\x00", WRONG),
];

#[test]
fn what_could_be_misread_is_refused() {
    for (text, why) in REFUSED {
        assert_eq!(frame_bytes(text), Err(*why), "{text}");
    }
}

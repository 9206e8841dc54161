//! `linerate serve tcp` and `linerate load tcp`: what is refused, and with what help.

use crate::Place;

#[test]
fn wrong_words_are_refused_with_what_helps() {
    let place = Place::new();
    let serve = "serve tcp packet:absent0 --listen 80";
    let load = "load tcp packet:absent0";
    for (words, said) in [
        (serve.to_owned(), "--address"),
        (format!("{serve} --address 192.0.2"), "192.0.2.2/24"),
        (format!("{serve} --address 192.0.2.2/33"), "1 to 32"),
        (format!("{serve} --address 192.0.2.2 --request 0"), "zero"),
        (format!("{serve} --address 192.0.2.2"), "absent0"),
        (
            format!("{serve} --address 192.0.2.2 --response absent.http"),
            "cannot be read",
        ),
        (
            format!("{serve} --address 192.0.2.2 --response /"),
            "no regular file",
        ),
        (
            format!("{serve} --address 192.0.2.2 --response /dev/null"),
            "no regular file",
        ),
        (
            format!("{serve} --address 192.0.2.2 --response page --request 92"),
            "leave --request out",
        ),
        (format!("{serve} --address 192.0.2.2 --response 92x"), "92x"),
        (
            format!("{load} --clients 192.0.2.9 --server 192.0.2.2:80 --response page"),
            "page",
        ),
        (
            "serve tcp gen: --address 192.0.2.2 --listen 80".to_owned(),
            "nobody answers",
        ),
        (
            "serve tcp null: --address 192.0.2.2 --listen 80".to_owned(),
            "nobody answers",
        ),
        (
            "serve tcp ring:x --address 192.0.2.2 --listen 80".to_owned(),
            "no other end",
        ),
        (format!("{load} --server 192.0.2.2:80"), "--clients"),
        (format!("{load} --clients 192.0.2.9"), "--server"),
        (
            format!("{load} --clients 192.0.2.9 --server 192.0.2.2"),
            "ADDRESS:PORT",
        ),
        (
            format!("{load} --clients 192.0.2.9 --server 192.0.2.2:0"),
            "port 0",
        ),
        (
            format!("{load} --clients 192.0.2.9 --server 192.0.2.2:80 -c 1 -R 1"),
            "cannot be used with",
        ),
    ] {
        place.run(&words).is_refused_as(Some(said), 2, &words);
    }
}

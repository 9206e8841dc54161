//! SPDX licence expressions: `MIT OR (Apache-2.0 WITH LLVM-exception AND Zlib)`, and the old form
//! `MIT/Apache-2.0`.

/// Whether somebody who accepts only the licences of `allowed` may use what the expression covers.
///
/// # Errors
/// What is wrong with the expression.
pub(super) fn allows(expression: &str, allowed: &[&str]) -> Result<bool, String> {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        tokens: &tokens,
        allowed,
    };
    let answer = reader.alternatives()?;
    match reader.tokens.first() {
        None => Ok(answer),
        Some(token) => Err(format!("unexpected `{token}`")),
    }
}

struct Reader<'a> {
    tokens: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl<'a> Reader<'a> {
    fn take(&mut self, token: &str) -> bool {
        let here = self.tokens.first() == Some(&token);
        if here {
            self.tokens = &self.tokens[1..];
        }
        here
    }

    fn next(&mut self) -> Result<&'a str, String> {
        let (first, rest) = self.tokens.split_first().ok_or("it ends too early")?;
        self.tokens = rest;
        Ok(first)
    }

    fn alternatives(&mut self) -> Result<bool, String> {
        let mut answer = self.all_of()?;
        while self.take("OR") {
            answer |= self.all_of()?;
        }
        Ok(answer)
    }

    fn all_of(&mut self) -> Result<bool, String> {
        let mut answer = self.one()?;
        while self.take("AND") {
            answer &= self.one()?;
        }
        Ok(answer)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let answer = self.alternatives()?;
            return if self.take(")") {
                Ok(answer)
            } else {
                Err("a `(` is not closed".into())
            };
        }
        let mut licence = self.next()?.to_owned();
        if ["AND", "OR", "WITH", ")"].contains(&licence.as_str()) {
            return Err(format!("unexpected `{licence}`"));
        }
        if self.take("WITH") {
            licence = format!("{licence} WITH {}", self.next()?);
        }
        Ok(self.allowed.contains(&licence.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::allows;

    const ALLOWED: &[&str] = &[
        "MIT",
        "Zlib",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception",
    ];

    #[test]
    fn expressions_are_weighed() {
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("MIT OR GPL-3.0", true),
            ("MIT AND GPL-3.0", false),
            ("MIT/GPL-3.0", true),
            ("GPL-3.0 OR MIT AND Zlib", true),
            ("(GPL-3.0 OR MIT) AND Zlib", true),
            ("(GPL-3.0 OR MIT) AND LGPL-2.1", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0 WITH GCC-exception", false),
        ] {
            assert_eq!(allows(expression, ALLOWED), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn nonsense_is_an_error() {
        for expression in ["", "MIT OR", "(MIT", "MIT Zlib", "AND MIT", "MIT )"] {
            assert!(allows(expression, ALLOWED).is_err(), "{expression}");
        }
    }
}
